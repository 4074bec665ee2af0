"""Rule documentation: pages and phrases that messages share."""
