"""Role loops: the stages of a round, what ends one, what its agents may do, and what is kept of it."""
