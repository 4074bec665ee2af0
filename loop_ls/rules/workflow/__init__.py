"""Rules about workflow files."""
