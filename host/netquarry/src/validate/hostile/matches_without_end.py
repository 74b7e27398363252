# failure: cpu_time at execute
# layer: rlimits
# processor_seconds: 1
"""In C, where no signal is looked at between two steps."""
import re

re.match("(x+x+)+y", "x" * 60)
