"""What the server's tests share: a raw client, an engine that is none, capabilities of editors."""
