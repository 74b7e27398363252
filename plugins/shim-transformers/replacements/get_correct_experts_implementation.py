def get_correct_experts_implementation(self, requested_experts):
    if requested_experts in (None, "grouped_mm"):
        try:
            self._grouped_mm_can_dispatch()
        except (ValueError, ImportError):
            if requested_experts is not None:
                raise
            return "eager"
        return "grouped_mm"
    return requested_experts
