"""One module per file format: its language support."""
