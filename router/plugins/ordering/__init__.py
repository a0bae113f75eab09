"""Order the requests of one flow."""
