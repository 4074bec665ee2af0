"""loop-ls: a language server and a durable engine for AI loops."""

__version__ = "0.1.0"
