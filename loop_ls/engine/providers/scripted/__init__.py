"""Scripted provider: answers from a script, for mock runs."""
