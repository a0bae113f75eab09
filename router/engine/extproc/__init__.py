"""Envoy's stream: messages in, replies out, errors into HTTP."""
