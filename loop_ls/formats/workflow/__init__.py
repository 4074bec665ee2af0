"""The workflow format (`workflow/v2.0`): keys, reading, typed model."""
