"""Compute values before scheduling."""
