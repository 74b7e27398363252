# failure: no_report at execute
# layer: worker
# effect: worker
import os

os._exit(0)
