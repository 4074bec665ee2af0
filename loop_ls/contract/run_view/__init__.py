"""Read model of a run: its facts folded once, in constant work per fact, into what every surface shows."""
