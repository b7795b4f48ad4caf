"""Graph algorithms over a chosen part of the graph; `calls` is the door, no module outside imports another."""
