# failure: memory at execute
# layer: rlimits
text = "x" * (1 << 62)
