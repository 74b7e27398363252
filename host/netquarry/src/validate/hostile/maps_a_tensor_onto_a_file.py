# failure: runtime_error at execute
# message: in read-write mode: Permission denied
# layer: landlock
# effect: file
import torch

torch.from_file("CANARY_FOLDER/victim", shared=True, size=16, dtype=torch.uint8).zero_()
