"""The role-file format: a role in Markdown, with its settings above the text."""
