"""The engine's page in a browser: its files, and how a browser is let in."""
