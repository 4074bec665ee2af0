"""JSON-RPC over standard input and output or TCP: framing, queue, dispatch, errors."""
