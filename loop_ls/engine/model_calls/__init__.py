"""Model calls: fallback chains, tool loops, embeddings."""
