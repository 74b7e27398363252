def as_validated_field(validator):
    import dataclasses

    def make(default=dataclasses.MISSING, *, metadata=None, **options):
        options["default"] = default
        return dataclasses.field(metadata={**(metadata or {}), "validator": [validator]}, **options)

    return make
