"""Reading a loop's condition without asking a model: vague, joined, markers, variables.

Pure functions of text. English only: a condition in another language is left alone.
"""
