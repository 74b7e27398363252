# failure: runtime_error at execute
# message: RuntimeError: no <object object at 0x...> in address_in_message.py
raise RuntimeError(f"no {object()} in {__file__}")
