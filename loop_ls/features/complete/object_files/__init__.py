"""Completion in files that are one object: role loops, assistants, settings."""
