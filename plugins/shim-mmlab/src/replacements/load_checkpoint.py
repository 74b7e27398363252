def _load_checkpoint(filename, map_location=None, logger=None):
    import os

    import torch

    if filename.startswith(("http://", "https://")):
        return torch.hub.load_state_dict_from_url(filename, map_location=map_location)
    if "://" in filename:
        raise ValueError(f"{filename} is in a hub that this file does not carry: give a path or a URL")
    path = os.path.expanduser(filename)
    if not os.path.isfile(path):
        raise FileNotFoundError(f"{path} can not be found.")
    return torch.load(path, map_location=map_location)
