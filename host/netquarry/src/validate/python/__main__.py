"""Starts the worker: `python -s -P -B FOLDER`, with the control socket as standard input."""

import sys

from netquarry_worker import server

# Bundles see what is installed and nothing of ours.
del sys.path[0]
server.main()
