class _ImportedWhenUsed(type):
    def __getattr__(cls, name):
        return getattr(__import__("clip"), name)


class clip(metaclass=_ImportedWhenUsed):
    pass
