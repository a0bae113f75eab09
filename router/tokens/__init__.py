"""Token estimates without a tokenizer: text packed as bytes, media priced by size and length."""
