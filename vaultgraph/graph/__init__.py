"""The immutable columnar property graph, its builder and its storage."""
