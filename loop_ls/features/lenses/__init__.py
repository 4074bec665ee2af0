"""Code lenses: run, progress, results."""
