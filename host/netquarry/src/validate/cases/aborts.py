# failure: crash at execute
# message: SIGABRT
import os

os.abort()
