"""Quick fixes: builders of edits and how they are applied."""
