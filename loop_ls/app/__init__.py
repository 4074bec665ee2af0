"""Composition root: which parts this product's engine is made of."""
