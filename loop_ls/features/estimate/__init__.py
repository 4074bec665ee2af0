"""Estimates: the calls and the cost of a run before it starts."""
