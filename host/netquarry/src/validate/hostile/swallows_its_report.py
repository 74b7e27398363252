# failure: no_report at execute
# tainted: modules text
# layer: host
import os

os.write = lambda descriptor, text: len(text)
raise RuntimeError("nobody hears it")
