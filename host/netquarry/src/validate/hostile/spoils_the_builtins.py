# failure: no_report at execute
# tainted: modules text
# layer: worker
import builtins

for name in ("len", "isinstance", "sorted", "getattr", "open", "print", "str", "dict", "BaseException"):
    setattr(builtins, name, None)
