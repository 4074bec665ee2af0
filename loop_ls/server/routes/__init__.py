"""Requests of the editor, one module per group. Each asks a feature and writes its answer as LSP.

Answers are plain dicts in the shape of the protocol: half of them are lists that would cost more to
build as objects than to compute.
"""
