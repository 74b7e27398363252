from tower import Brick


class Block:
    """Of the same name."""


made = [Block(1), Brick(2), dict(type="Block", of="annex"), dict(type="Stack", of="annex")]
