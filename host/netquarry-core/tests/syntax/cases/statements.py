#!/usr/bin/env python
# A licence.

# Directly above,
# in two lines.
import os  # behind

a = 1; b = 2  # two

# Not directly above.

# Directly above a decorator.
@ first
@(
    # inside
    second
)
# between
class C: pass
# Directly behind a class.
d = 3

e = """
# in a string
"""
f = 4
"a string alone"
# Above the string's neighbour.
if x:
    # inside
    pass
    # at the end
elif y:
    pass
g = (
    5
)
global h
assert g, "message"
raise SystemExit
pass;
