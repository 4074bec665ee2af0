"""Rename and references: occurrences of symbols, renamed symbols and files."""
