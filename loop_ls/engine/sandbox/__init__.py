"""Sandboxes: a program in one may read below one folder and do nothing else. See `sandbox`."""
