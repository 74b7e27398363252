class BaseModule(nn.Module, metaclass=ABCMeta):
    """A module whose configuration says how its parameters are initialised."""

    def __init__(self, init_cfg=None):
        super().__init__()
        self._is_init = False
        self.init_cfg = copy.deepcopy(init_cfg)

    @property
    def is_init(self):
        return self._is_init

    @is_init.setter
    def is_init(self, value):
        self._is_init = value

    def init_weights(self):
        if self._is_init:
            message = f"init_weights of {self.__class__.__name__} has been called more than once."
            return print_log(message, logger="current", level=30)
        pretrained = []
        if self.init_cfg:
            given = [self.init_cfg] if isinstance(self.init_cfg, dict) else self.init_cfg
            assert all(isinstance(one, dict) for one in given)
            kinds = [getattr(one["type"], "__name__", one["type"]) for one in given]
            loads = [kind in ("Pretrained", "PretrainedInit") for kind in kinds]
            pretrained = [one for one, last in zip(given, loads) if last]
            initialize(self, [one for one, last in zip(given, loads) if not last])
        for child in self.children():
            if is_model_wrapper(child) and not hasattr(child, "init_weights"):
                child = child.module
            if hasattr(child, "init_weights") and not getattr(child, "is_init", False):
                child.init_weights()
        if pretrained:
            initialize(self, pretrained)
        self._is_init = True

    def __repr__(self):
        return super().__repr__() + (f"\ninit_cfg={self.init_cfg}" if self.init_cfg else "")
