"""May refuse a request once its data are there."""
