"""Graph algorithms over a chosen part of the graph; `declared` names them and `calls` is the door."""
