"""What engines say they hold: block keys of prompts, events of KV caches, the index that joins the two. Knows no sockets."""
