"""Hover: what stands under the cursor means, and which value is in effect."""
