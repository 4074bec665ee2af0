"""Source edits that keep indentation, quotes, comments and line ends."""
