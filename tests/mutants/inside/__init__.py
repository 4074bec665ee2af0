"""What programs that a test starts find on their path while a mutant is tried."""
