"""A provider's interface on loopback: as strict as the real ones, and it keeps what it was asked."""
