# failure: data_required at execute
# message: '<folder>/vocabulary.txt'
import os

open(os.path.join(os.path.dirname(__file__), "vocabulary.txt"))
