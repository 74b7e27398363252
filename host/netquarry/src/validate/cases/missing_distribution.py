# failure: missing_distribution at execute
# message: ModuleNotFoundError: No module named 'einops'
# upstream: package/module.py:104
import einops
