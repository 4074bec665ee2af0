"""Subprocess supervision: children in their own group that end with the engine."""
