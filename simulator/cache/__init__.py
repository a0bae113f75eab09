"""What a server remembers: KV blocks by prefix, processed and encoded media by content."""
