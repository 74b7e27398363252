def strict(cls=None, *, accept_kwargs=False):
    import dataclasses
    import functools

    def accepting(cls):
        @functools.wraps(cls.__init__)
        def __init__(self, *args, **kwargs):
            if args:
                raise ValueError(f"{cls.__name__} takes only keywords, and not {len(args)} arguments by their place")
            for field in dataclasses.fields(cls):
                if field.name in kwargs:
                    setattr(self, field.name, kwargs.pop(field.name))
                elif field.default is not dataclasses.MISSING:
                    setattr(self, field.name, field.default)
                elif field.default_factory is not dataclasses.MISSING:
                    setattr(self, field.name, field.default_factory())
                else:
                    raise TypeError(f"Missing required field - '{field.name}'")
            self.__post_init__(**kwargs)

        return __init__

    def post_init(self, **kwargs):
        for name, value in kwargs.items():
            setattr(self, name, value)

    def guarding(cls, assign):
        checks = {}
        for field in dataclasses.fields(cls):
            given = field.metadata.get("validator") or []
            checks[field.name] = given if isinstance(given, list) else [given]

        def __setattr__(self, name, value):
            for check in checks.get(name, []):
                check(value)
            assign(self, name, value)

        return __setattr__

    def wrap(cls):
        cls.__setattr__ = guarding(cls, cls.__setattr__)
        if accept_kwargs:
            if not hasattr(cls, "__post_init__"):
                cls.__post_init__ = post_init
            cls.__init__ = accepting(cls)
        names = [name for name in dir(cls) if name.startswith("validate_") and callable(getattr(cls, name))]
        validators = [getattr(cls, name) for name in names]

        def validate(self):
            for validator in validators:
                validator(self)

        initialize = cls.__init__

        @functools.wraps(initialize)
        def __init__(self, *args, **kwargs):
            initialize(self, *args, **kwargs)
            cls.validate(self)

        cls.validate = validate
        cls.__init__ = __init__
        return cls

    return wrap if cls is None else wrap(cls)
