"""Tree to typed values with places: one module per file format, one table of keys for all of its uses.

Imports nothing heavy: the language server loads this room at start."""
