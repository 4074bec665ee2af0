"""Mutation runs over the product by its own tests: `python -m tests.mutants rules --seed 7 --count 100`."""
