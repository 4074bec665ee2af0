"""What stage agents can do, tool by tool. Which role gets which is decided in `roles.access` alone."""
