"""The bridge between editor and engine: commands, subscriptions, progress, approvals."""
