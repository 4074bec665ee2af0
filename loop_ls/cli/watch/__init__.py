"""Watching a run in a terminal: what is known of it, how it is drawn, how it is told line by line."""
