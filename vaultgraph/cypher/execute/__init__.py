"""Operators over Bindings: one column per variable."""
