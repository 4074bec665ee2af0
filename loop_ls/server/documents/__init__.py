"""What the client has open: folders, texts, positions, edits, the index of the workspace."""
