class ConfigDict(dict):
    """A dictionary whose items are attributes too, and whose inner dictionaries are like itself."""

    def __init__(self, *args, **kwargs):
        super().__init__()
        for given in (*(arg for arg in args if arg), kwargs):
            if isinstance(given, tuple) and not isinstance(given[0], tuple):
                given = [given]
            for key, value in given.items() if isinstance(given, dict) else given:
                self[key] = value

    @classmethod
    def _hook(cls, item):
        if type(item).__name__ in ("dict", "OrderedDict") and not isinstance(item, cls):
            return cls(item)
        if isinstance(item, (list, tuple)):
            return type(item)(cls._hook(element) for element in item)
        return item

    def __setitem__(self, name, value):
        super().__setitem__(name, self._hook(value))

    def __setattr__(self, name, value):
        if hasattr(dict, name):
            raise AttributeError(f"'{type(self).__name__}' object attribute '{name}' is read-only")
        self[name] = value

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'") from None

    def __delattr__(self, name):
        del self[name]

    def __copy__(self):
        return type(self)(self)

    copy = __copy__

    def __deepcopy__(self, memo):
        import copy

        memo[id(self)] = other = type(self)()
        for key, value in self.items():
            other[copy.deepcopy(key, memo)] = copy.deepcopy(value, memo)
        return other

    def __reduce_ex__(self, protocol):
        return type(self), (dict(self),)

    def pop(self, key, default=None):
        return super().pop(key, default)

    def setdefault(self, key, default=None):
        if key in self:
            return self[key]
        self[key] = default
        return default

    def update(self, *args, **kwargs):
        for key, value in {**dict(*args), **kwargs}.items():
            if isinstance(self.get(key), dict) and isinstance(value, dict):
                self[key].update(value)
            else:
                self[key] = value

    def to_dict(self):
        def plain(item):
            if isinstance(item, dict):
                return {key: plain(value) for key, value in item.items()}
            if isinstance(item, (list, tuple)):
                return type(item)(plain(element) for element in item)
            return item

        return plain(self)
