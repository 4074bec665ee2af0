"""What a loop repeats: one module per kind of body."""
