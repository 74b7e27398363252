# failure: process_state at execute
# message: SystemExit: 0
# layer: worker
# effect: worker
import sys

sys.exit(0)
