"""Plans kept between queries of one graph, by text and the shapes of the parameters.

A plan rests on the graph's statistics, so a cache belongs to one snapshot and goes with it. Asked by cypher/query.
"""

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Final

from vaultgraph.cypher.bind import Bound
from vaultgraph.cypher.operators import Plan
from vaultgraph.frozen import frozen

MOST_PLANS: Final = 256
MOST_CHARS: Final = 10_000  # a longer query is planned each time

Key = tuple[str, tuple[tuple[str, str, tuple[str, ...]], ...]]


@frozen
class Planned:
    """A bound query and its plan."""

    bound: Bound
    plan: Plan


class PlanCache:
    """The plans used last; safe to share between threads."""

    def __init__(self) -> None:
        self._plans: OrderedDict[Key, Planned] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> Planned | None:
        """The plan kept under ``key``."""
        with self._lock:
            if (found := self._plans.get(key)) is not None:
                self._plans.move_to_end(key)
            return found

    def put(self, key: Key, planned: Planned) -> None:
        """Keep a plan; the one not used for longest gives way."""
        if len(key[0]) > MOST_CHARS:
            return
        with self._lock:
            self._plans[key] = planned
            if len(self._plans) > MOST_PLANS:
                self._plans.popitem(last=False)

    def __len__(self) -> int:
        return len(self._plans)


def key_of(text: str, parameters: Mapping[str, object]) -> Key:
    """What a plan depends on beside the graph: the text, and of each parameter its type and, of a map, its keys."""
    shapes = (
        (name, type(value).__name__, tuple(map(str, value)) if isinstance(value, Mapping) else ())  # pyright: ignore[reportUnknownArgumentType]
        for name, value in sorted(parameters.items())
    )
    return text, tuple(shapes)
