"""Connecting to an engine and managing it."""
