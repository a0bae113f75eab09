"""Prometheus metrics, one file per subject."""
