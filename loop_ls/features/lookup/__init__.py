"""Node lookup: what stands at a position of a document."""
