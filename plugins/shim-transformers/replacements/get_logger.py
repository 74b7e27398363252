def get_logger(name=None):
    import functools
    import logging

    def once(emit):
        return functools.lru_cache(None)(lambda self, *args, **kwargs: emit(self, *args, **kwargs))

    if not hasattr(logging.Logger, "warning_once"):
        logging.Logger.warning_once = once(logging.Logger.warning)
        logging.Logger.info_once = once(logging.Logger.info)
        logging.Logger.warning_advice = logging.Logger.warning
    return logging.getLogger(name or "transformers")
