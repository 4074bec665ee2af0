"""Incremental parsing: chunks of a document and reading only what an edit touched."""
