"""Rules about assistant files."""
