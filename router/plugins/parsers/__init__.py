"""Parsers: what the bodies of some paths mean."""
