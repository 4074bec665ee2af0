"""File selection for `check` and `fix`."""
