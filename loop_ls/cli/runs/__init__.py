"""Listing, showing and starting runs in a terminal."""
