"""One small function per rule, registered with code, name, severity, text and fix."""
