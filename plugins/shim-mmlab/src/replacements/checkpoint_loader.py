class CheckpointLoader:
    @classmethod
    def load_checkpoint(cls, filename, map_location=None, logger="current"):
        return _load_checkpoint(filename, map_location, logger)

    @classmethod
    def register_scheme(cls, prefixes, loader=None, force=False):
        return None if loader is not None else lambda loader: loader
