class MMLogger:
    @classmethod
    def get_instance(cls, name="mmengine", **kwargs):
        import logging

        return logging.getLogger(name)

    get_current_instance = get_instance

    @classmethod
    def check_instance_created(cls, name):
        import logging

        return name in logging.Logger.manager.loggerDict
