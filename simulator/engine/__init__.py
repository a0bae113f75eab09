"""What a busy accelerator does with time: sequences, steps, and the books over them."""
