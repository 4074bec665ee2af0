"""JSON Schemas generated from the key tables."""
