def print_log(msg, logger=None, level=20):
    import logging

    if logger is None:
        print(msg)
    elif isinstance(logger, logging.Logger):
        logger.log(level, msg)
    elif isinstance(logger, str):
        if logger not in ("silent", "current", *logging.Logger.manager.loggerDict):
            raise ValueError(f"MMLogger: {logger} has not been created!")
        if logger != "silent":
            logging.getLogger("mmengine" if logger == "current" else logger).log(level, msg)
    else:
        raise TypeError(f"`logger` is a logging.Logger, a str or None, not {type(logger)}")
