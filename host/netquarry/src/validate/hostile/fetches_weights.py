# failure: data_required at execute
# message: URLError
# layer: seccomp
# effect: connection
import torch

torch.hub.load_state_dict_from_url("http://127.0.0.1:CANARY_PORT/weights.pth")
