"""Runners: one fresh agent process, or one model call, for each piece of work. See `runner`."""
