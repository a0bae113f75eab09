"""How many tokens text and media are, and which."""
