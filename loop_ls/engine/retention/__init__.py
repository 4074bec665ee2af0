"""Retention: how long ended runs and their documents are kept."""
