"""Runs loops: events, state, driver, bodies, judges, providers, durability, API. Knows no editor."""
