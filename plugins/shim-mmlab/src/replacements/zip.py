from builtins import zip
