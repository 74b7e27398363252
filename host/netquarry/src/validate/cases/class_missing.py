# failure: unresolved_name at execute
# message: did not define 'Block'
