"""Text as editors count it: lines, positions, encodings, edits. Knows no YAML."""
