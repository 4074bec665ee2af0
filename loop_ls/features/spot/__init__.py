"""Where exactly the cursor is, for completion: in a key, a value, an item, or in prose.

Works on lines, never on a tree, so half-typed text is no special case: `line.spots_at` reads the
lines of one piece (`block`, `flow`) and answers `place.Spot`s. What may be written there is none of its business.
"""
