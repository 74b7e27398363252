from builtins import map
