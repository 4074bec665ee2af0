"""Runs that work in a Git worktree of their own (`isolate: worktree`), and what becomes of their changes."""
