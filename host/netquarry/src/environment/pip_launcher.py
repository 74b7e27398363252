"""Runs pip: the environment's own, or else the one that Python carries for new environments."""

import glob
import os
import runpy
import sys


def find():
    try:
        import pip  # noqa: F401
    except ImportError:
        import ensurepip

        wheels = glob.glob(os.path.join(os.path.dirname(ensurepip.__file__), "_bundled", "pip-*.whl"))
        sys.path[:0] = wheels[:1]


find()
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)
