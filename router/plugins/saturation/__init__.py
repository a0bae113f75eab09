"""Measure how full the pool is."""
