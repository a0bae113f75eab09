"""Keeping the requests of a session at one endpoint."""
