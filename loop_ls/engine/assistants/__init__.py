"""Assistant loops: one agent, one message, fresh runs until a criterion is met. See `program`."""
