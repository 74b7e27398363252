SETTINGS = {
    "datasets_dir": "datasets",
    "weights_dir": "weights",
    "runs_dir": "runs",
    "uuid": "",
    "sync": False,
    "api_key": "",
    "openvino_msg": False,
    "vscode_msg": False,
}
