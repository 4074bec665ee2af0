"""What a run may do: derived once from everything it can reach, shown by consent, asked by every effect."""
