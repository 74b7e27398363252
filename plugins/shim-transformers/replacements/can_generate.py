@classmethod
def can_generate(cls):
    return False
