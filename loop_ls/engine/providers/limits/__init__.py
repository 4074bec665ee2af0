"""Provider limits: circuit breaker, rate limits, retry."""
