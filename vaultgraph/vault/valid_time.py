"""Queries as of a day: which day a call means, and the graph of that day.

Between whoever asks (the library's door, the server's operations) and one snapshot. The last few graphs are kept, by
generation and day; where a vault declares no valid time nothing here costs anything.
"""

import re
from collections import OrderedDict
from dataclasses import replace
from datetime import date
from threading import Lock
from typing import TYPE_CHECKING, Final, cast

from vaultgraph.cypher.plan_cache import PlanCache
from vaultgraph.errors import ParameterError, QuerySyntaxError
from vaultgraph.frozen import frozen
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.schema import Schema
from vaultgraph.graph.valid_time import graph_at
from vaultgraph.vault.tables import run_on

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vaultgraph.cypher.budget import Budget
    from vaultgraph.cypher.result import Result
    from vaultgraph.vault.snapshot import Snapshot

KEPT: Final = 4
ALL: Final = "all"
TODAY: Final = "today"
_FOR: Final = re.compile(r"\s*(?:(?:EXPLAIN|PROFILE)\s+)?(FOR\s+VALID_TIME\b)", re.IGNORECASE)
_INSTANT: Final = re.compile(
    r"\s+(?:(?P<all>ALL)\b|AS\s+OF\s+(?P<date>date\s*\(\s*)?(?P<mark>['\"])(?P<day>[^'\"\n]*)(?P=mark)(?(date)\s*\)))",
    re.IGNORECASE,
)


@frozen
class View:
    """A snapshot as of a day, and how many ends of intervals were no dates."""

    snapshot: "Snapshot"
    undated: int


class ViewStore:
    """The last views made, by generation and day. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._views: OrderedDict[tuple[int, date], View] = OrderedDict()

    def view(self, snapshot: "Snapshot", day: date) -> View:
        """``snapshot`` as of ``day``; calls of the same day wait for the one that makes it."""
        key = (snapshot.generation, day)
        with self._lock:
            view = self._views.get(key)
            if view is None:
                view = _view(snapshot, day)
                for old in [other for other in self._views if other[0] != snapshot.generation]:
                    del self._views[old]  # a graph of an old generation is held by nothing else
                self._views[key] = view
                while len(self._views) > KEPT:
                    self._views.popitem(last=False)
            self._views.move_to_end(key)
        return replace(view, snapshot=replace(view.snapshot, stale=snapshot.stale, stamps=snapshot.stamps))

    def clear(self) -> None:
        """Hold none of them any longer."""
        with self._lock:
            self._views.clear()


def _view(snapshot: "Snapshot", day: date) -> View:
    held = graph_at(snapshot.graph, snapshot.profile.valid_time, day)
    if held.graph is snapshot.graph:
        return View(snapshot, held.undated)
    schema = _SchemaOfDay(held.graph, snapshot.schema)
    return View(replace(snapshot, graph=held.graph, schema=schema, plans=PlanCache()), held.undated)


class _SchemaOfDay(Schema):
    """The schema of a day's graph, which knows the properties of all days: one that nothing has today is no mistake."""

    def __init__(self, graph: Graph, whole: Schema) -> None:
        super().__init__(graph, whole.indexes)
        self._whole = whole

    def property_keys(self, label: str | None) -> frozenset[str]:
        """Keys that a node with ``label`` has on any day."""
        return self._whole.property_keys(label)

    def relationship_property_keys(self, type_name: str | None) -> frozenset[str]:
        """Keys that a relationship of the type has on any day."""
        return self._whole.relationship_property_keys(type_name)


@frozen
class AsOf:
    """A result and what it was asked of: ``snapshot`` is the one of the day.

    ``valid_at``: an ISO date or "all"; None where nothing declares valid time. ``undated``: as of View.
    """

    result: "Result"
    snapshot: "Snapshot"
    valid_at: str | None
    undated: int = 0


def run_as_of(
    snapshot: "Snapshot",
    views: ViewStore,
    query: str,
    parameters: "Mapping[str, object]",
    budget: "Budget",
    *,
    valid_at: str | None = None,
    default: str = ALL,
    today: date | None = None,
) -> AsOf:
    """Run a query on ``snapshot`` as of the day that its prefix, else ``valid_at``, else ``default`` says.

    Raises:
        ParameterError: ``valid_at`` is no day, differs from the prefix, or nothing declares valid time.
        QueryError: as of any query; the prefix too may be wrong.
    """
    text, prefix = split_prefix(query)
    if prefix is not None and valid_at is not None and prefix != valid_at:
        raise ParameterError(
            f"`valid_at` says {valid_at[:40]} and the query FOR VALID_TIME {prefix}: leave one of them out.",
            {"name": "valid_at", "reason": "conflict"},
        )
    asked = prefix or valid_at
    is_declared = bool(snapshot.profile.valid_time)
    day = day_of(asked or default, today or date.today())
    if not is_declared and asked is not None and day is not None:
        raise ParameterError(
            "Nothing here says from when to when it holds. A vault declares it under `valid_time:` in "
            ".kglite/vaultgraph.yaml; without that there is no `valid_at` but all.",
            {"name": "valid_at", "reason": "undeclared"},
        )
    if day is None or not is_declared:
        return AsOf(run_on(snapshot, text, parameters, budget), snapshot, ALL if is_declared else None)
    view = views.view(snapshot, day)
    return AsOf(run_on(view.snapshot, text, parameters, budget), view.snapshot, day.isoformat(), view.undated)


def day_of(instant: str, today: date) -> date | None:
    """The day that `today`, an ISO date or `all` (None) means.

    Raises:
        ParameterError: it is none of them.
    """
    said = instant.strip().casefold()
    if said == ALL:
        return None
    if said == TODAY:
        return today
    try:
        return date.fromisoformat(said)
    except ValueError:
        raise ParameterError(
            f"`valid_at` must be a date such as 2026-01-31, today or all, not {instant[:60]!r}.",
            {"name": "valid_at", "reason": "wrong kind"},
        ) from None


def split_prefix(query: str) -> tuple[str, str | None]:
    """The query with its prefix `FOR VALID_TIME …` blanked, so that places stay, and the instant the prefix says.

    Raises:
        QuerySyntaxError: the prefix is not complete.
    """
    begun = _FOR.match(query)
    if begun is None:
        return query, None
    found = _INSTANT.match(query, begun.end())
    if found is None:
        raise QuerySyntaxError(
            "After FOR VALID_TIME comes ALL, or AS OF and a date in quotes: FOR VALID_TIME AS OF '2026-01-31' MATCH …",
            query,
            begun.start(1),
            begun.end(1),
        )
    first, stop = begun.start(1), found.end()
    blank = "".join(char if char in "\r\n" else " " for char in query[first:stop])
    instant = ALL if found["all"] else cast("str", found["day"])
    return f"{query[:first]}{blank}{query[stop:]}", instant
