# failure: policy_violation at execute
# message: wrote to the report's descriptor
# tainted: exit text
# layer: host
import json
import os
import struct

for event in ({"event": "passed", "level": "execute", "evidence": {}}, {"event": "done"}):
    body = json.dumps({"token": "0" * 32, **event}).encode()
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, struct.pack(">I", len(body)) + body)
        except OSError:
            pass
os._exit(0)
