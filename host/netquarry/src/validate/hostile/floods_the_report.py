# failure: policy_violation at execute
# message: wrote to the report's descriptor
# layer: host
import os

while True:
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, b"\0" * 65536)
        except OSError:
            pass
