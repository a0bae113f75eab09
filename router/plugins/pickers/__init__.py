"""End a profile with a choice."""
