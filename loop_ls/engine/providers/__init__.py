"""Models behind one port: the only part of the engine that imports httpx."""
