"""Documentation texts that hover and completion share."""
