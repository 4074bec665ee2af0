"""Who decides that a loop is done: one module per kind of judge."""
