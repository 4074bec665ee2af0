"""Rules about role-loop definitions."""
