from .block import *
from .heads import Head
