# failure: syntax at parse
# upstream: package/module.py:103
class Block(:
    pass
