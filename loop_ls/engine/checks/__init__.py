"""Declared checks of a run: what is looked at, how it is judged, and what follows from it."""
