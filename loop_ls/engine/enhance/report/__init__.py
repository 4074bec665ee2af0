"""Failure reports: observing a round and deciding what follows."""
