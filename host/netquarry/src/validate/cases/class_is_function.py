# failure: class_creation at execute
# message: 'Block' is not a class but of type 'function'
def Block():
    pass
