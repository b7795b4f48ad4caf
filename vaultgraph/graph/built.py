"""What building gives: the graph, and what was found on the way."""

from dataclasses import dataclass

import polars as pl

from vaultgraph.graph.graph import Graph


@dataclass(frozen=True, slots=True)
class Built:
    """``problems``: path String, line Int32, code, severity, message String, sorted. ``counts``: by what is counted."""

    graph: Graph
    problems: pl.DataFrame
    counts: dict[str, int]
