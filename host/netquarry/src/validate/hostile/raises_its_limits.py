# failure: runtime_error at execute
# message: not allowed to raise maximum limit
# layer: seccomp
import resource

resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
