"""Rules about declared checks and test cases."""
