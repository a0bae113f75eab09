"""What model servers say of themselves: metrics pages and the names in them."""
