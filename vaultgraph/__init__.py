"""vaultgraph: a folder of Markdown notes as a live knowledge graph.

This module is the whole public surface: ``open`` a vault, query it, close it. It re-exports and holds nothing else;
nothing inside the package imports from it.
"""

__version__ = "0.1.0"
