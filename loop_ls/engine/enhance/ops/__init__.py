"""Plan operations: the closed list, their checks, their effects on a file."""
