"""The tools of a stage for agent programs: served over MCP while one turn lasts."""
