"""The algorithms by name: their result columns and the options they take. What runs them is in algorithms/calls.

Read by cypher/procedures at every start, so it imports nothing that the start does not need anyway.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.cypher.execute.bindings import Bindings, BoundColumn, NodeColumn, ObjectColumn, ValueColumn
from vaultgraph.frozen import frozen


@frozen
class Algorithm:
    """``columns`` are the result columns in order, by type; ``options`` the names it takes in its map."""

    name: str
    columns: Mapping[str, str]
    options: tuple[str, ...]

    @property
    def signature(self) -> str:
        """The signature of the procedure."""
        columns = ", ".join(f"{name} :: {kind}" for name, kind in self.columns.items())
        return f"{self.name}(options? :: MAP) :: ({columns})"

    @property
    def nothing(self) -> Bindings:
        """The result columns without a row."""
        return Bindings(0, {name: _EMPTY[kind] for name, kind in self.columns.items()})


_EMPTY: Final[Mapping[str, BoundColumn]] = MappingProxyType(
    {
        "NODE": NodeColumn(np.zeros(0, dtype=np.int64)),
        "INTEGER": ValueColumn(pl.Series([], dtype=pl.Int64)),
        "FLOAT": ValueColumn(pl.Series([], dtype=pl.Float64)),
        "PATH": ObjectColumn([]),
    }
)


_SUBGRAPH: Final = ("labels", "types", "nodes")
_WEIGHTS: Final = ("weight", "defaultWeight")
_SAMPLING: Final = ("direction", "samples", "seed")
_SCORE: Final = {"node": "NODE", "score": "FLOAT"}

ALGORITHMS: Final[Mapping[str, Algorithm]] = MappingProxyType(
    {
        one.name.lower(): one
        for one in (
            Algorithm("algo.betweenness", _SCORE, (*_SUBGRAPH, *_SAMPLING, "normalized")),
            Algorithm("algo.closeness", {**_SCORE, "harmonic": "FLOAT"}, (*_SUBGRAPH, *_SAMPLING)),
            Algorithm(
                "algo.communities",
                {"node": "NODE", "community": "INTEGER", "size": "INTEGER"},
                (*_SUBGRAPH, *_WEIGHTS, "seed"),
            ),
            Algorithm(
                "algo.components",
                {"node": "NODE", "component": "INTEGER", "size": "INTEGER"},
                (*_SUBGRAPH, "kind"),
            ),
            Algorithm("algo.coreness", {"node": "NODE", "core": "INTEGER"}, _SUBGRAPH),
            Algorithm(
                "algo.degree",
                {"node": "NODE", "degree": "INTEGER", "strength": "FLOAT"},
                (*_SUBGRAPH, "direction", *_WEIGHTS),
            ),
            Algorithm(
                "algo.pagerank",
                _SCORE,
                (*_SUBGRAPH, "direction", *_WEIGHTS, "source", "damping", "iterations", "tolerance"),
            ),
            Algorithm(
                "algo.shortestPaths",
                {"node": "NODE", "distance": "FLOAT", "steps": "INTEGER", "path": "PATH"},
                (*_SUBGRAPH, "direction", *_WEIGHTS, "source", "target", "paths"),
            ),
            Algorithm(
                "algo.triangles",
                {"node": "NODE", "triangles": "INTEGER", "coefficient": "FLOAT"},
                _SUBGRAPH,
            ),
        )
    }
)
"""Every algorithm by its name in lower case."""
