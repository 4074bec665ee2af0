"""One editor feature per module: pure functions from a snapshot and a place to a value. No LSP types."""
