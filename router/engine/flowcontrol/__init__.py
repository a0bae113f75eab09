"""Waiting: whether and when a request may go on."""
