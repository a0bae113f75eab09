"""Policies, one folder a family, one file a config type; `registry` lists them."""
