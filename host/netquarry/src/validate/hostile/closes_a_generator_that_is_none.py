# failure: runtime_error at execute
# message: GeneratorExit
# layer: worker
raise GeneratorExit
