"""Remove endpoints that must not be chosen."""
