"""Clusters: those that exist, later those that are created."""
