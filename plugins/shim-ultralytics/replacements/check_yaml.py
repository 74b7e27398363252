def check_yaml(file, suffix=(".yaml", ".yml"), hard=True):
    import os

    if os.path.splitext(str(file))[1].lower() not in suffix:
        raise AssertionError(f"{file} does not end in {' or '.join(suffix)}")
    if hard and not os.path.exists(file):
        raise FileNotFoundError(f"'{file}' does not exist")
    return str(file)
