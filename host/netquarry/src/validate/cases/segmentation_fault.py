# failure: crash at execute
# message: SIGSEGV
import ctypes

ctypes.string_at(8)
