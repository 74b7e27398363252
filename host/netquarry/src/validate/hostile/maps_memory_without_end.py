# failure: memory at execute
# layer: rlimits
import mmap

kept = []
while True:
    kept.append(mmap.mmap(-1, 64 << 20))
