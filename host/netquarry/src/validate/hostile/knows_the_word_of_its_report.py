# level: forward
# tainted: exit text, frames both, frames text
# layer: none
# passes_through: the word that makes a report believed lies in the memory of the process that it is about; only parity, which runs in processes of its own, would tell
"""Reports levels that it never reaches: there is no class in it."""
import os
import sys

frame = sys._getframe()
while "reporter" not in frame.f_locals:
    frame = frame.f_back
for level in ("execute", "construct", "forward"):
    frame.f_locals["reporter"].send("passed", level=level, evidence={})
frame.f_locals["reporter"].send("inapplicable", level="backward")
os._exit(0)
