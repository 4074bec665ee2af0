"""Humanized values: durations, money, counts."""
