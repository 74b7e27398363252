# What a star import takes.
__all__ = ["a", "b"] + layers.__all__ + list(("c", *models.blocks.__all__))
__all__ += ["d", "a"]
__all__.extend(["e", "f"])
__all__.append("g")
__all__.remove("b")
if condition:
    __all__ += [name for name in dir()]
