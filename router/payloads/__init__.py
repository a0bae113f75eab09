"""Bodies of the supported APIs, read once and without decoding media; usage reports of responses."""
