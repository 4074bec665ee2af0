"""Rules about project settings."""
