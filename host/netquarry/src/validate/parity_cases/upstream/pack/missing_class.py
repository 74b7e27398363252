Block = None
