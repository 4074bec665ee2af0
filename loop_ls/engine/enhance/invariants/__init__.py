"""Plan invariants: what no plan may change, compared with round 1 on the effective workflow."""
