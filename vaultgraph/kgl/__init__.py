"""The .kgl container: checked, read-only sections of Arrow data."""
