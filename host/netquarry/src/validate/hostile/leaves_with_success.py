# failure: no_report at execute
# tainted: exit text
# layer: worker
# effect: worker
import os

os._exit(0)
