"""The parsed configuration a vault carries in its .kglite folder."""
