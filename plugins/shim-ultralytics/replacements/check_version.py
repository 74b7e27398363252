def check_version(current="0.0.0", minimum="0.0.0", name="version ", pinned=False, hard=False, verbose=False):
    from torch._vendor.packaging.version import parse

    met = parse(current) == parse(minimum) if pinned else parse(current) >= parse(minimum)
    if hard and not met:
        raise AssertionError(f"{name}{minimum} is required, but {name}{current} is currently installed")
    return met
