# failure: memory at execute
# layer: worker
exec("-" * 1_000_000 + "1")
