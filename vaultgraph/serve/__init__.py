"""The server: one table of operations, its answers and the MCP transport."""
