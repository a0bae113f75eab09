"""What must hold for a stack that serves multimodal requests, checked from the outside."""
