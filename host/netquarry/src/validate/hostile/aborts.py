# failure: crash at execute
# message: SIGABRT
# layer: worker
# effect: worker
import os

os.abort()
