def check_yaml(file, suffix=(".yaml", ".yml"), hard=True):
    import os

    found = str(file).strip()
    endings = (suffix,) if isinstance(suffix, str) else suffix
    if found and "." + found.rpartition(".")[-1].lower() not in endings:
        raise AssertionError(f"{file} does not end in {' or '.join(endings)}")
    if not found or os.path.exists(found):
        return found
    if hard:
        raise FileNotFoundError(f"'{file}' does not exist")
    return []
