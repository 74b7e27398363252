# failure: no_report at execute
# layer: host
import os

os.write = lambda descriptor, text: len(text)
raise RuntimeError("nobody hears it")
