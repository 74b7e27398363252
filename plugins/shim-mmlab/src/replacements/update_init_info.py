def update_init_info(module, init_info):
    pass
