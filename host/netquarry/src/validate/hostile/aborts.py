# failure: crash at execute
# message: SIGABRT
# tainted: exit text
# layer: worker
# effect: worker
import os

os.abort()
