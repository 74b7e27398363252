def model_addition_debugger_context(model, debug_path=None, do_prune_layers=True, use_repr=True):
    import contextlib

    return contextlib.nullcontext(model)
