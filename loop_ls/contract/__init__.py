"""Contract: the types of everything that crosses a border between processes. Imports nothing of the other rooms.

`endings` and `statuses` are plain Python, so that the language server may import them at its start; `facts` needs
pydantic and is imported by whoever reads or writes facts.
"""
