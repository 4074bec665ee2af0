"""Findings as LSP diagnostics: converted, published, pulled, streamed."""
