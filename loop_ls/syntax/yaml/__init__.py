"""YAML reading: libyaml for valid text, error recovery for half-typed text."""
