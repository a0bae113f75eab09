"""The engine: an Envoy external processor that chooses an endpoint for every request."""
