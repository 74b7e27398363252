# failure: crash at execute
# message: SIGSEGV
# tainted: memory both
# layer: worker
# effect: worker
import ctypes

ctypes.string_at(8)
