"""Aggregates: their signatures (for binding), their names and calls. functions/aggregate_rows computes them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeGuard

from vaultgraph.cypher.syntax import CountStar, FunctionCall, Syntax
from vaultgraph.frozen import frozen


@frozen
class Aggregate:
    """``least`` and ``most`` count arguments; ``count(*)`` is syntax of its own."""

    name: str
    signature: str
    least: int
    most: int


AGGREGATES: Final[Mapping[str, Aggregate]] = MappingProxyType(
    {
        one.name.lower(): one
        for one in (
            Aggregate("avg", "avg(value :: NUMBER | DURATION) :: FLOAT", 1, 1),
            Aggregate("collect", "collect(value :: ANY) :: LIST<ANY>", 1, 1),
            Aggregate("count", "count(value :: ANY) :: INTEGER", 1, 1),
            Aggregate("max", "max(value :: ANY) :: ANY", 1, 1),
            Aggregate("min", "min(value :: ANY) :: ANY", 1, 1),
            Aggregate("percentileCont", "percentileCont(value :: NUMBER, percentile :: NUMBER) :: FLOAT", 2, 2),
            Aggregate("percentileDisc", "percentileDisc(value :: NUMBER, percentile :: NUMBER) :: NUMBER", 2, 2),
            Aggregate("stDev", "stDev(value :: NUMBER) :: FLOAT", 1, 1),
            Aggregate("stDevP", "stDevP(value :: NUMBER) :: FLOAT", 1, 1),
            Aggregate("sum", "sum(value :: NUMBER | DURATION) :: NUMBER", 1, 1),
        )
    }
)
"""Every aggregate by its name in lower case; `find_aggregate` looks up a name as written."""


def find_aggregate(name: str) -> Aggregate | None:
    """The aggregate called ``name`` in any case, None where there is none."""
    return AGGREGATES.get(name.lower())


def is_aggregate(tree: Syntax) -> TypeGuard[FunctionCall | CountStar]:
    """Whether the tree is itself a call of an aggregate."""
    return isinstance(tree, CountStar) or (isinstance(tree, FunctionCall) and find_aggregate(tree.name) is not None)
