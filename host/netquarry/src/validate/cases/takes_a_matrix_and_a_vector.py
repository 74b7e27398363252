# level: forward
# constructor: matrix=torch.eye(64), mean_vector=torch.eye(64)
from torch import nn


class Block(nn.Module):
    def __init__(self, matrix, mean_vector):
        super().__init__()
        if matrix.size(0) != mean_vector.size(0):
            raise ValueError("they do not fit each other")
        self.matrix, self.mean_vector = matrix, mean_vector

    def forward(self, x):
        return (x - self.mean_vector) @ self.matrix
