"""Run context: variables, interpolation, arguments, targets, files."""
