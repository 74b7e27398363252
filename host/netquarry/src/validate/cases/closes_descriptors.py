# failure: no_report at execute
import os

os.closerange(0, 4096)
