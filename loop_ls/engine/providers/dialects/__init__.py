"""Provider dialects: request and response formats."""
