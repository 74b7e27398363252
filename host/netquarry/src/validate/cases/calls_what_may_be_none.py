# level: forward
# constructor: main=torch.nn.Identity()
from typing import Optional

from torch import nn


class Block(nn.Module):
    def __init__(
        self,
        main: Optional[nn.Module],
        shortcut: Optional[nn.Module] = None,
        post_act: Optional[nn.Module] = None,
        pre_norm: Optional[nn.Module] = None,
    ):
        super().__init__()
        self.main, self.shortcut, self.post_act, self.pre_norm = main, shortcut, post_act, pre_norm

    def through_main(self, x):
        if self.pre_norm is None:
            return self.main(x)
        return self.main(self.pre_norm(x))

    def forward(self, x):
        result = self.through_main(x) if self.shortcut is None else self.through_main(x) + self.shortcut(x)
        return result if self.post_act is None else self.post_act(result)
