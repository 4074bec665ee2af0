"""Findings as text, JSON and other formats that people and programs read."""
