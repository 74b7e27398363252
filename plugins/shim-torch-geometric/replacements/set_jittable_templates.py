def _set_jittable_templates(self, raise_on_error=False):
    if raise_on_error:
        raise ValueError("a block holds no template files from which its propagation could be written out")
    cls = self.__class__
    cls._orig_propagate = cls._jinja_propagate = cls.propagate
    if self.inspector.implements("edge_update"):
        cls._orig_edge_updater = cls._jinja_edge_updater = cls.edge_updater
