def load(file, file_format=None, file_client_args=None, backend_args=None, **kwargs):
    import io
    import warnings
    from pathlib import Path

    if isinstance(file, Path):
        file = str(file)
    if file_format is None and isinstance(file, str):
        file_format = file.split(".")[-1]
    if file_format not in file_handlers:
        raise TypeError(f"Unsupported format: {file_format}")
    if file_client_args is not None:
        if backend_args is not None:
            raise ValueError("give `backend_args`, and not `file_client_args` beside it")
        warnings.warn("`file_client_args` is deprecated: give `backend_args`", DeprecationWarning, stacklevel=2)
        backend_args = file_client_args
    handler = file_handlers[file_format]
    if hasattr(file, "read"):
        return handler.load_from_fileobj(file, **kwargs)
    if not isinstance(file, str):
        raise TypeError('"file" must be a filepath str or a file-object')
    if (backend_args or {}).get("backend", "local") not in ("local", "disk", "http"):
        raise ValueError("clients of storage services stay outside: give a path or a URL")
    if file.startswith(("http://", "https://")):
        from urllib.request import urlopen

        content = urlopen(file).read()
    elif "://" in file:
        raise KeyError(f"{file} is in a storage service that this file has no client of: give a path or a URL")
    else:
        content = Path(file).read_bytes()
    stream = io.StringIO(content.decode("utf-8")) if handler.str_like else io.BytesIO(content)
    with stream:
        return handler.load_from_fileobj(stream, **kwargs)
