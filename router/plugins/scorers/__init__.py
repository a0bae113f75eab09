"""Prefer some endpoints to others."""
