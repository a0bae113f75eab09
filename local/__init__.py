"""Plays a rendered stack on this machine."""
