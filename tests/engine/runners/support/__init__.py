"""Programs, engines and short words for the tests of control."""
