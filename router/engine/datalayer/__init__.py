"""What the endpoints look like: who they are now, and what their metrics say."""
