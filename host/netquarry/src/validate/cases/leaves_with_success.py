# failure: no_report at execute
import os

os._exit(0)
