# failure: data_required at execute
open("vocabulary.txt")
