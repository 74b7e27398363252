# failure: no_report at execute
# layer: worker
# effect: worker
import os

os.closerange(0, 4096)
