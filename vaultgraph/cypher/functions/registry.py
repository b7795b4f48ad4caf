"""All functions by name, for the binder (does it exist, how many arguments) and the evaluator (what does it do).

The families are imported by the first query that calls a function.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from vaultgraph.cypher.functions.record import Function


@cache
def _by_name() -> Mapping[str, Function]:
    from vaultgraph.cypher.functions import (  # noqa: PLC0415 -- see above
        conversion,
        graphs,
        lists,
        numbers,
        strings,
        temporal,
    )

    families = (strings, lists, numbers, conversion, temporal, graphs)
    return MappingProxyType({one.name.lower(): one for family in families for one in family.functions()})


def find(name: str) -> Function | None:
    """The function called ``name`` in any case, None where there is none. Aggregates are not functions here."""
    return _by_name().get(name.lower())


def names() -> list[str]:
    """Every function name as it is shown, sorted."""
    return sorted((one.name for one in _by_name().values()), key=str.lower)
