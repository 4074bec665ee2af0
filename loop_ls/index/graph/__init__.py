"""Dependency graph of one file: needs, order, reachability."""
