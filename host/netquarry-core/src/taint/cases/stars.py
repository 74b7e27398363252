from gc import *

get_objects()  # collector gc.get_objects
collect()
