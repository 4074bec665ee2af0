"""Annotated fixtures, fakes and scripted answers, for our tests and for users."""
