"""Incremental rule engine: work units, dependency tracking, suppression, selection."""
