# failure: policy_violation at execute
# message: PermissionError: [Errno 13]
# layer: landlock
raise RuntimeError(open("CANARY_FOLDER/secret").read())
