class Registry:
    """Maps keys to what is registered in this file, and falls back to its parent."""

    def __init__(self, name, build_func=None, parent=None, scope=None, locations=()):
        self._name = name
        self._scope = scope or (locations[0].split(".")[0] if locations else "mmengine")
        self._module_dict = {}
        self._children = {}
        self.parent = parent
        if parent is not None:
            parent._children[self._scope] = self
        inherited = Registry._build_from_cfg if parent is None else parent.build_func
        self.build_func = build_func or inherited

    name = property(lambda self: self._name)
    scope = property(lambda self: self._scope)
    module_dict = property(lambda self: self._module_dict)
    children = property(lambda self: self._children)
    root = property(lambda self: self._get_root_registry())

    def __len__(self):
        return len(self._module_dict)

    def __contains__(self, key):
        return self.get(key) is not None

    def _get_root_registry(self):
        return self if self.parent is None else self.parent._get_root_registry()

    def _search_child(self, scope):
        if self._scope == scope:
            return self
        found = (child._search_child(scope) for child in self._children.values())
        return next((child for child in found if child is not None), None)

    def switch_scope_and_registry(self, scope):
        import contextlib

        registry = None if scope is None else self._get_root_registry()._search_child(scope)
        return contextlib.nullcontext(self if registry is None else registry)

    def import_from_location(self):
        pass

    def get(self, key):
        if not isinstance(key, str):
            raise TypeError(f"The key argument of `Registry.get` must be a str, got {type(key)}")
        scope, dot, rest = key.partition(".")
        if not dot:
            return self._get_without_scope(key)
        if scope == self._scope:
            return self._module_dict.get(rest)
        root = self._get_root_registry()
        if scope in self._children:
            return self._children[scope].get(rest)
        if self is not root and (scope == root._scope or scope in root._children):
            return root.get(key)
        return self._import_object(key)

    def _get_without_scope(self, key):
        registry = self
        while registry is not None:
            if key in registry._module_dict:
                return registry._module_dict[key]
            registry = registry.parent
        found = (child._module_dict.get(key) for child in self._children.values())
        return next((entry for entry in found if entry is not None), None)

    @staticmethod
    def _import_object(path):
        import importlib

        module, _, rest = path.rpartition(".")
        attributes = [rest]
        while module:
            try:
                found = importlib.import_module(module)
                for attribute in attributes:
                    found = getattr(found, attribute)
                return found
            except (ImportError, AttributeError):
                module, _, rest = module.rpartition(".")
                attributes.insert(0, rest)
        return None

    def build(self, cfg, *args, **kwargs):
        return self.build_func(cfg, *args, **kwargs, registry=self)

    def register_module(self, name=None, force=False, module=None):
        def register(module):
            names = [module.__name__] if name is None else [name] if isinstance(name, str) else name
            for key in names:
                if not force and key in self._module_dict:
                    raise KeyError(f"{key} is already registered in {self._name}")
                self._module_dict[key] = module
            return module

        return register if module is None else register(module)

    _register_module = lambda self, module, module_name=None, force=False: self.register_module(  # noqa: E731
        module_name, force, module
    )

    @staticmethod
    def _build_from_cfg(cfg, registry, default_args=None):
        if not isinstance(cfg, dict):
            raise TypeError(f"cfg should be a dict, ConfigDict or Config, but got {type(cfg)}")
        if not (default_args is None or isinstance(default_args, dict)):
            raise TypeError(f"default_args should be a dict or None, but got {type(default_args)}")
        args = cfg.copy()
        for name, value in (default_args or {}).items():
            args.setdefault(name, value)
        if "type" not in args:
            raise KeyError(f'`cfg` or `default_args` must contain the key "type", but got {cfg}\n{default_args}')
        with registry.switch_scope_and_registry(args.pop("_scope_", None)) as registry:
            kind = args.pop("type")
            if isinstance(kind, str):
                found = registry.get(kind)
                if found is None:
                    raise KeyError(f"{kind} is not in the {registry.scope}::{registry.name} registry")
                kind = found
            elif not callable(kind):
                raise TypeError(f"type must be a str or valid type, but got {type(kind)}")
            return kind(**args)
