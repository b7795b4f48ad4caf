"""Built-in functions by family."""
