# failure: native_extension at execute
# layer: seccomp
# effect: processes
from torch.utils import cpp_extension

cpp_extension.load_inline("extension", "int answer() { return 42; }", functions=["answer"])
