"""What building gives: the graph, what was found on the way, and what the next edit can be taken in with."""

from typing import TYPE_CHECKING

import polars as pl

from vaultgraph.frozen import frozen
from vaultgraph.graph.graph import Graph

if TYPE_CHECKING:  # a start from the cache does without it
    from vaultgraph.graph.ground import Ground


@frozen
class Built:
    """``problems``: path String, line Int32, code, severity, message String, sorted. ``counts``: by what is counted.

    ``ground``: None for a graph that was not built here but read from a file.
    """

    graph: Graph
    problems: pl.DataFrame
    counts: dict[str, int]
    ground: "Ground | None" = None
