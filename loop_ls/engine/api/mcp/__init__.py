"""MCP server: loops as tools for agents."""
