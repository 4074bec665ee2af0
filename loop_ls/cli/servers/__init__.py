"""Commands that serve a protocol over standard input and output."""
