"""A request's life between parsing and the reply."""
