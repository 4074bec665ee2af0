"""Rounds around a workflow run that change its file."""
