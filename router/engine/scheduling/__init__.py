"""Choosing an endpoint: profiles of filters, scorers and a picker. Synchronous, knows no plugin by name."""
