"""What may be written at a spot: one module per kind of thing (keys, values, variables, ...).

Each takes a `request.Request` and answers items; `features.complete.completion` decides which are asked.
"""
