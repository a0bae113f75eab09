"""What every deployment needs first: configuration, namespace, token, definitions."""
