from .models import Block as Brick
