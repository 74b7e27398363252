# failure: crash at execute
# message: SIGSEGV
# layer: worker
import sys

sys.setrecursionlimit(1 << 30)


class Deep:
    def __getattr__(self, name):
        return getattr(self, name + "x")


Deep().x
