"""Declared checks and test cases of a loop: keys, reading, typed model."""
