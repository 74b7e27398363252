from tower import Brick as Stone

made = Stone(3)
