"""The role-loop format: keys, reading, typed model, built-in loops."""
