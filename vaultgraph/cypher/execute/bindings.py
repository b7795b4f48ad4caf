"""Bindings: the rows between operators, one column per variable, and the four shapes a column takes.

Everything an operator reads and writes. Nodes and relationships travel as ids; properties are fetched when an
expression asks for them. Typed values are polars Series; values that have no one type fall back to Python objects.
"""

from collections.abc import Mapping

import polars as pl

from vaultgraph.frozen import frozen
from vaultgraph.graph.columns import Ids


@frozen
class NodeColumn:
    """Node ids, ``int64[height]``; -1 is null."""

    ids: Ids


@frozen
class RelationshipColumn:
    """Global relationship ids, ``int64[height]``; -1 is null."""

    ids: Ids


@frozen
class ValueColumn:
    """Values of one type: Null, Boolean, Int64, Float64, String, Date, Datetime("us"), Datetime("us", "UTC") or a
    List of one of these; nulls are null. No other dtype ever appears, and NaN is a float, never null."""

    series: pl.Series


@frozen
class ObjectColumn:
    """Any mix of values (see cypher/values): lists of nodes, maps, paths, or cells that differ in type; None: null."""

    values: list[object]


BoundColumn = NodeColumn | RelationshipColumn | ValueColumn | ObjectColumn


@frozen
class Bindings:
    """``height`` rows; every column has that length. A variable that is in scope has a column, even at height 0."""

    height: int
    columns: Mapping[str, BoundColumn]
