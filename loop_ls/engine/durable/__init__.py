"""Starts, recovers and owns runs: the only room that imports dbos."""
