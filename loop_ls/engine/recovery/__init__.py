"""Recovery: crash recovery, heartbeat, membership of a cluster."""
