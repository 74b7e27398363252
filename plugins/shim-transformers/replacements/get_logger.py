def get_logger(name=None):
    import functools
    import logging
    import os

    def once(emit):
        return functools.lru_cache(None)(lambda self, *args, **kwargs: emit(self, *args, **kwargs))

    def warning_advice(self, *args, **kwargs):
        if not os.getenv("TRANSFORMERS_NO_ADVISORY_WARNINGS"):
            self.warning(*args, **kwargs)

    if not hasattr(logging.Logger, "warning_once"):
        logging.Logger.warning_once = once(logging.Logger.warning)
        logging.Logger.info_once = once(logging.Logger.info)
        logging.Logger.warning_advice = warning_advice
    return logging.getLogger(name or "transformers")
