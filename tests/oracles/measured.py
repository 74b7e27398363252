"""What a command takes.

    measured.py COMMAND ARGUMENT...

Runs it and prints as JSON, on one line: `status`, `wall_seconds`, `cpu_seconds` with those of its children, and
`peak_bytes` of the largest of these processes. What it prints itself goes nowhere.
"""

import json
import resource
import subprocess
import sys
import time

started = time.monotonic()
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
wall = time.monotonic() - started
used = resource.getrusage(resource.RUSAGE_CHILDREN)
taken = {
    "status": status,
    "wall_seconds": wall,
    "cpu_seconds": used.ru_utime + used.ru_stime,
    "peak_bytes": used.ru_maxrss * 1024,
}
print(json.dumps(taken))
