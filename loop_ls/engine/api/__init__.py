"""HTTP and server-sent events of the engine: the only room that imports starlette."""
