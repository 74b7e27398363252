# failure: crash at execute
# message: SIGSEGV
# layer: worker
# effect: worker
import ctypes

ctypes.string_at(8)
