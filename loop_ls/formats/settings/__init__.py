"""Project settings (`.loop-ls.yaml`): keys, layers, typed model."""
