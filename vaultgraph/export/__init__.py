"""Writing a graph out: as a vault of notes, and as tables for other programs."""
