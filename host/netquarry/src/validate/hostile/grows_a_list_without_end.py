# failure: memory at execute
# layer: rlimits
grown = [None]
while True:
    grown += grown
