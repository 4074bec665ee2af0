"""What a run may spend: caps in force before each call, and an account of what was spent and is promised."""
