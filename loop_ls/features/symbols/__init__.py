"""Document and workspace symbols."""
