"""Reading the option map of an algorithm: names, kinds and ranges, before anything of the graph is looked at.

Called by algorithms/calls. Which nodes `source` and `target` mean is for algorithms/subgraph.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, cast

from vaultgraph.cypher.advice import nearest
from vaultgraph.cypher.operators import Direction
from vaultgraph.cypher.values import Node, NodeRef, is_list, is_map, is_number, type_name
from vaultgraph.errors import EvaluationError

Place = int | str  # a node id, or the path of a note


@dataclass(frozen=True, slots=True)
class Options:
    """What a call asks for. ``labels``, ``types`` and ``nodes`` None: all; ``samples`` None: every node is a pivot."""

    labels: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None
    nodes: tuple[int, ...] | None = None
    direction: Direction = "both"
    weight: str | None = None
    default_weight: float | None = None
    source: tuple[Place, ...] = ()
    target: tuple[Place, ...] = ()
    strong: bool = False
    samples: int | None = None
    seed: int = 0
    damping: float = 0.85
    iterations: int = 100
    tolerance: float = 1e-7
    normalized: bool = True
    paths: bool = False


_Reader = Callable[[str, object], object]


def read_options(algorithm: str, accepted: Collection[str], given: object, start: Options) -> Options:
    """``start`` changed by the map ``given``; None and an empty map change nothing, an option that is null neither.

    Raises:
        EvaluationError: ``given`` is no map, or an option is unknown to the algorithm or of the wrong kind.
    """
    if given is None:
        return start
    if not is_map(given):
        raise EvaluationError(
            f"{algorithm}() takes one map of options, such as {{{next(iter(accepted))}: …}}, not {type_name(given)}."
        )
    changes: dict[str, object] = {}
    for name, value in given.items():
        if name not in accepted:
            advice = nearest(name, accepted)
            raise EvaluationError(
                f"{algorithm}() has no option {name!r}"
                + (f"; did you mean {advice}?" if advice else ".")
                + f" It takes: {', '.join(accepted)}."
            )
        if value is not None:
            field, reader = _READERS[name]
            changes[field] = reader(f"{algorithm}(): {name}", value)
    options = replace(start, **cast("dict[str, object]", changes))  # type: ignore[arg-type]
    if options.default_weight is not None and options.weight is None:
        raise EvaluationError(f"{algorithm}(): defaultWeight needs weight: the property that some lack.")
    return options


def _wrong(what: str, wanted: str, value: object) -> EvaluationError:
    shown = repr(value) if isinstance(value, str | int | float) else type_name(value)
    return EvaluationError(f"{what} is {wanted}, not {shown}.")


def _names(what: str, value: object) -> tuple[str, ...]:
    items = value if is_list(value) else [value]
    names = tuple(item for item in items if isinstance(item, str))
    if len(names) != len(items):
        raise _wrong(what, "a name or a list of names", value)
    return names


def _name(what: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise _wrong(what, "the name of a property", value)
    return value


def _node_of(value: object) -> int | None:
    return value.id if isinstance(value, NodeRef | Node) else None


def _nodes(what: str, value: object) -> tuple[int, ...]:
    if not is_list(value):
        raise _wrong(what, "a list of nodes, such as collect(n)", value)
    found = tuple(node for item in value if (node := _node_of(item)) is not None)
    if len(found) != sum(item is not None for item in value):
        raise _wrong(what, "a list of nodes, such as collect(n)", "a list with something else in it")
    return found


def _places(what: str, value: object) -> tuple[Place, ...]:
    found: list[Place] = []
    for item in value if is_list(value) else [value]:
        place = item if isinstance(item, str) else _node_of(item)
        if place is None:
            raise _wrong(what, "a node, the path of a note, or a list of these", item)
        found.append(place)
    return tuple(found)


def _direction(what: str, value: object) -> str:
    if value not in ("out", "in", "both"):
        raise _wrong(what, "'out', 'in' or 'both'", value)
    return cast("str", value)


def _is_strong(what: str, value: object) -> bool:
    if value not in ("weak", "strong"):
        raise _wrong(what, "'weak' or 'strong'", value)
    return value == "strong"


def _truth(what: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _wrong(what, "true or false", value)
    return value


def _whole(least: int, most: int) -> _Reader:
    def read(what: str, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise _wrong(what, f"a whole number from {least:,} to {most:,}", value)
        return value

    return read


def _real(least: float, below: float, wanted: str) -> _Reader:
    def read(what: str, value: object) -> float:
        if not is_number(value) or not math.isfinite(value) or not least <= value < below:
            raise _wrong(what, wanted, value)
        return float(value)

    return read


_READERS: Final[Mapping[str, tuple[str, _Reader]]] = MappingProxyType(
    {
        "labels": ("labels", _names),
        "types": ("types", _names),
        "nodes": ("nodes", _nodes),
        "direction": ("direction", _direction),
        "weight": ("weight", _name),
        "defaultWeight": ("default_weight", _real(0, math.inf, "a number that is not negative")),
        "source": ("source", _places),
        "target": ("target", _places),
        "kind": ("strong", _is_strong),
        "samples": ("samples", _whole(1, 2**31)),
        "seed": ("seed", _whole(0, 2**63)),
        "damping": ("damping", _real(0, 1, "a number from 0 to below 1")),
        "iterations": ("iterations", _whole(1, 10_000)),
        "tolerance": ("tolerance", _real(0, 1, "a number from 0 to below 1")),
        "normalized": ("normalized", _truth),
        "paths": ("paths", _truth),
    }
)
"""Every option by its name in queries: the field it fills and what reads it."""
