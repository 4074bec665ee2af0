"""Planning: the planner's prompt, its answer, applying a plan to a working copy."""
