"""A workspace with assistants, a fake agent, and the engine over them."""
