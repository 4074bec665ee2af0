"""Runs: registry, executor, recorder, control, forks, event bus."""
