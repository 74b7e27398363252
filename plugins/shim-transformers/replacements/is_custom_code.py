@classmethod
def is_custom_code(cls):
    return False
