"""Embedded local model: a server in a child process."""
