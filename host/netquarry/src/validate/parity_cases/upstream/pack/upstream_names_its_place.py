import os

raise FileNotFoundError(f"there is no {os.path.join(os.path.dirname(__file__), 'weights.bin')}")
