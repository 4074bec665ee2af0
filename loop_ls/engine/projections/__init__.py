"""Projections: read models folded from the facts of a run."""
