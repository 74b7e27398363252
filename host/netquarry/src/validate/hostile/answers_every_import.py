# failure: class_creation at execute
# message: 'Block' is not a class
# tainted: modules both, modules text
# layer: worker
import builtins
import sys


class Anything:
    def __getattr__(self, name):
        return self

    def __call__(self, *arguments, **named):
        return self


builtins.__import__ = lambda *_, **__: Anything()
sys.meta_path.clear()
import timm

Block = timm.Block()
