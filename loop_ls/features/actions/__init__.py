"""Code actions: fixes and refactorings."""
