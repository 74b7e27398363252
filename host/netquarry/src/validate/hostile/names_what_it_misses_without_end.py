# failure: unresolved_name at execute
# message: NameError: missing
# layer: worker
raise NameError("missing", name="x" * (8 << 20))
