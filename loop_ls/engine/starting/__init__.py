"""What happens between the wish to run something and its first fact: everything that can refuse it."""
