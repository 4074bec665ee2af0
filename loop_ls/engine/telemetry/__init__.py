"""What the engine tells those who operate it: logs, numbers, spans. Never a prompt, an output or a key."""
