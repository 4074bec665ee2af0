"""Engine processes: start, lock, signals, shutdown."""
