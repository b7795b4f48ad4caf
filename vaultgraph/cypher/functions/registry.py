"""All functions by name, for the binder (does it exist, how many arguments) and the evaluator (what does it do)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from vaultgraph.cypher.functions import conversion, graphs, lists, numbers, strings, temporal
from vaultgraph.cypher.functions.record import Function

_FAMILIES: Final = (strings, lists, numbers, conversion, temporal, graphs)
_BY_NAME: Final[Mapping[str, Function]] = MappingProxyType(
    {one.name.lower(): one for family in _FAMILIES for one in family.functions()}
)


def find(name: str) -> Function | None:
    """The function called ``name`` in any case, None where there is none. Aggregates are not functions here."""
    return _BY_NAME.get(name.lower())


def names() -> list[str]:
    """Every function name as it is shown, sorted."""
    return sorted((one.name for one in _BY_NAME.values()), key=str.lower)
