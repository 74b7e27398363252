class CheckpointLoader:
    @classmethod
    def load_checkpoint(cls, filename, map_location=None, logger="current"):
        return _load_checkpoint(filename, map_location, logger)
