"""Transfer: export and import of runs."""
