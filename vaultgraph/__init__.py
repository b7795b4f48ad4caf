"""vaultgraph: a folder of Markdown notes as a live knowledge graph.

This module is the whole public surface: ``open`` a vault and query it, or ``query`` a ``Graph`` of your own. It
re-exports and holds nothing else; nothing inside the package imports from it. The names are loaded when first used, so
that the command line starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vaultgraph.cypher.query import query
    from vaultgraph.cypher.result import Result
    from vaultgraph.cypher.values import Node, Path, Relationship
    from vaultgraph.errors import VaultgraphError
    from vaultgraph.graph.graph import Graph
    from vaultgraph.vault.snapshot import Report
    from vaultgraph.vault.vault import Vault
    from vaultgraph.vault.vault import open_vault as open  # noqa: A004 - the door's name: vaultgraph.open(path)

__version__ = "0.2.0"
__all__ = [
    "Graph",
    "Node",
    "Path",
    "Relationship",
    "Report",
    "Result",
    "Vault",
    "VaultgraphError",
    "__version__",
    "open",
    "query",
]


def __getattr__(name: str) -> Any:
    homes = {
        "Graph": ("vaultgraph.graph.graph", "Graph"),
        "query": ("vaultgraph.cypher.query", "query"),
        "Node": ("vaultgraph.cypher.values", "Node"),
        "Path": ("vaultgraph.cypher.values", "Path"),
        "Relationship": ("vaultgraph.cypher.values", "Relationship"),
        "Report": ("vaultgraph.vault.snapshot", "Report"),
        "Result": ("vaultgraph.cypher.result", "Result"),
        "Vault": ("vaultgraph.vault.vault", "Vault"),
        "VaultgraphError": ("vaultgraph.errors", "VaultgraphError"),
        "open": ("vaultgraph.vault.vault", "open_vault"),
    }
    if name not in homes:
        raise AttributeError(f"module 'vaultgraph' has no attribute '{name}'")
    module, attribute = homes[name]
    value = getattr(import_module(module), attribute)
    globals()[name] = value
    return value
