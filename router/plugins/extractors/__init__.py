"""How polled pages become endpoint metrics."""
