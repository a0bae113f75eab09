"""vLLM's HTTP interface: bodies in, answers and streams out."""
