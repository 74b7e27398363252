class Block(nn.Module):
    def forward(self, x, scale=1):
        out = x + 1
        for step in range(scale):
            out = out * [y for y in out if y][step]
        return (lambda a: a + out)(x)
# ---
class Block(nn.Module):
    def forward(this, image, factor=1):
        result = image + 1
        for number in range(factor):
            result = result * [each for each in result if each][number]
        return (lambda value: value + result)(image)
