"""Who the endpoints are: from the Kubernetes API or from a file, behind one interface."""
