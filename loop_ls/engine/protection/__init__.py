"""Protected files: what decides about an agent's work, and which it must not change unseen. See `guard`."""
