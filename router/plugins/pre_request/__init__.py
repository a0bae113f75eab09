"""Act on a decision before it leaves."""
