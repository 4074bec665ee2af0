"""Rules about role files."""
