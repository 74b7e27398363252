# failure: memory at execute
# layer: rlimits
blocks = []
while True:
    blocks.append(bytearray(64 << 20))
