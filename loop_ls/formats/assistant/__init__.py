"""The assistant format: keys, reading, typed model."""
