"""What is polled from endpoints."""
