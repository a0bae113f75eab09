"""Which prompt prefixes an endpoint is thought to hold: block hashes and an index of them."""
