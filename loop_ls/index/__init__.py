"""Many documents: names, uses, scopes, order, calls between files; immutable snapshots; discovery on disk."""
