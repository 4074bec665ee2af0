"""Records of role loops: sessions, sprints, artifacts, todos."""
