"""JSON reading: strict about the grammar, tolerant of half-typed text."""
