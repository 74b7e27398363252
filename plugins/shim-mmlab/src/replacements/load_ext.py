def load_ext(name, funcs):
    class NativeOperators:
        def __getattr__(self, operator):
            module = f"mmcv.{name}"
            message = f"No module named {module!r}: {operator} is a native operator of mmcv, which this file is without"
            raise ModuleNotFoundError(message, name=module)

    return NativeOperators()
