"""Contract: the types of everything that crosses a border between processes. Imports nothing of the other rooms.

`endings` and `operations` are plain Python, so that the language server may import them at its start; `requests`,
`answers`, `run_state` and `facts` need pydantic. `validation` loads types when the first object is to be checked.
"""
