# failure: process_state at execute
import os

os.environ["RANK_OF_NOBODY"]
