"""What `/metrics` shows: counters kept by the engine, and the page written from them."""
