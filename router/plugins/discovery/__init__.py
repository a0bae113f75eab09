"""Where endpoints come from when it is not the Kubernetes API."""
