"""Text to a tolerant tree with places (YAML and JSON), incrementally; placeholders; edits that keep style.

Never raises on content."""
