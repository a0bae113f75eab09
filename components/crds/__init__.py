"""Definitions of the Inference Extension's custom resources, written as typed data."""
