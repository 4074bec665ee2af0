"""Fact types: one model for each kind of fact in a run's journal."""
