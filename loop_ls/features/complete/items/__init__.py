"""Completion items, one module per kind of thing that can be written."""
