"""A model server without an accelerator: vLLM's flags, API, metrics and timing."""
