"""The .kgl container: mapped, checked sections of Arrow data."""
