"""Follow responses."""
