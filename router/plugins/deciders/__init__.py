"""Answer whether an optional stage is worth it."""
