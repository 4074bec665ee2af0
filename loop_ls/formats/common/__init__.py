"""Parts that all file formats share: key tables, typed reading, problems, near misses."""
