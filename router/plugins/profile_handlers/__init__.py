"""Decide which profiles run and what their results mean."""
