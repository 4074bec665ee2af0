"""Socket.IO: events of assistant loops."""
