"""Sorted indexes: the cells of one property of some nodes in order, so that a value or a range of values is found
without looking at all of them.

Made and kept by graph/facts, asked by cypher/execute/seek. An index that cannot tell says so (None); then the column
is compared as it lies.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final, Literal

import numpy as np
import polars as pl

from vaultgraph.frozen import frozen
from vaultgraph.graph.columns import VARIANT, Column, Ids
from vaultgraph.note.records import ValueKind

Operator = Literal["=", "<", "<=", ">", ">=", "STARTS WITH"]
Bound = tuple[Operator, Any]  # of values as queries have them

_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_EPOCH: Final = datetime(1970, 1, 1)
_MICROSECOND: Final = timedelta(microseconds=1)
_VARIANT_FIELDS: Final = (
    (ValueKind.TEXT, "text", pl.String()),
    (ValueKind.INTEGER, "number", pl.Int64()),
    (ValueKind.FLOAT, "real", pl.Float64()),
)
_KINDS: Final = (
    (pl.String(), "text"),
    (pl.Int64(), "number"),
    (pl.Float64(), "number"),
    (pl.Boolean(), "boolean"),
    (pl.Date(), "date"),
    (pl.Datetime("us"), "moment"),
)
_SEVERAL: Final = 4
_TIMES: Final = frozenset({"date", "moment", "other"})


@frozen
class _Part:
    """Cells of one dtype, ascending; dates as days, moments as microseconds. ``ids``: the node of each.

    ``key`` makes a Python value of a cell, so that whole numbers and floats are compared exactly.
    """

    values: Sequence[Any]
    ids: Ids
    key: Callable[[Any], Any]

    def span(self, bounds: Iterable[Bound]) -> tuple[int, int]:
        """From which place up to which the cells satisfy all bounds."""
        low: int = 0
        high: int = len(self.values)
        for operator, value in bounds:
            if operator == "=":
                low, high = self._equal(value, low, high)
                continue
            if operator in (">=", "STARTS WITH"):
                low = bisect_left(self.values, value, low, high, key=self.key)
            elif operator == ">":
                low = bisect_right(self.values, value, low, high, key=self.key)
            if operator == "<=":
                high = bisect_right(self.values, value, low, high, key=self.key)
            elif operator == "<":
                high = bisect_left(self.values, value, low, high, key=self.key)
            elif operator == "STARTS WITH":
                high = bisect_right(self.values, value, low, high, key=_cut(value))
        return low, high

    def _equal(self, value: Any, low: int, high: int) -> tuple[int, int]:
        low = bisect_left(self.values, value, low, high, key=self.key)
        last = low
        while last < high and last < low + _SEVERAL and self.key(self.values[last]) == value:
            last += 1
        if last < low + _SEVERAL:
            return low, last  # as most often: none or a few
        return low, bisect_right(self.values, value, last, high, key=self.key)


def _cut(prefix: str) -> Callable[[str], str]:
    size = len(prefix)
    return lambda text: text[:size]


@frozen
class SortedIndex:
    """The cells of one property by kind; cells of the kind "other" are in no part."""

    parts: Mapping[str, Sequence[_Part]]

    def find(self, bounds: Sequence[Bound], most: int | None = None) -> Ids | None:
        """The nodes whose value satisfies all ``bounds``, ``int64[k]`` ascending.

        None where the index cannot tell, where more than ``most`` do, and where nothing does but there are dates or
        datetimes of another kind than was asked for, which may deserve a warning.
        """
        known = [_known(value) for _, value in bounds]
        kinds = {kind for kind, _ in known}
        kind = kinds.pop() if len(kinds) == 1 else "other"
        if kind == "other" or (kind not in ("text", "number") and "other" in self.parts):
            return None
        exact: list[Bound] = [(operator, value) for (operator, _), (_, value) in zip(bounds, known, strict=True)]
        if kind != "text" and any(operator == "STARTS WITH" for operator, _ in exact):
            return None
        spans = [(part.ids, part.span(exact)) for part in self.parts.get(kind, ())]
        total = sum(high - low for _, (low, high) in spans)
        if most is not None and total > most:
            return None
        if not total:
            return None if _TIMES & (self.parts.keys() - {kind}) else np.zeros(0, dtype=np.int64)
        found = [ids[low:high] for ids, (low, high) in spans if high > low]
        if len(found) == 1 and any(operator == "=" for operator, _ in exact):
            return found[0]  # equal cells lie in the order of their nodes
        return np.sort(np.concatenate(found))


def _known(value: object) -> tuple[str, Any]:
    """The kind of a sought value, and what it is compared as."""
    if isinstance(value, bool):
        return "boolean", int(value)
    if isinstance(value, int) or (isinstance(value, float) and not math.isnan(value)):
        return "number", value
    if isinstance(value, str):
        return "text", value
    if type(value) is date:
        return "date", value.toordinal() - _EPOCH_DAY
    if type(value) is datetime and value.tzinfo is None:
        return "moment", (value - _EPOCH) // _MICROSECOND
    return "other", None


def sorted_index(column: Column | None, ranges: Iterable[tuple[int, int]]) -> SortedIndex:
    """The index of the cells of the nodes in ``ranges`` (first, stop); nulls and NaN are left out."""
    found: dict[pl.DataType, list[tuple[pl.Series, Ids]]] = {}
    has_others = False
    for first, stop in ranges:
        for segment in () if column is None else column.segments:
            low, high = max(first, segment.first), min(stop, segment.stop)
            if low >= high:
                continue
            series = segment.series.slice(low - segment.first, high - low)
            ids = np.arange(low, high, dtype=np.int64)
            if series.dtype == VARIANT:
                kinds = series.struct.field("kind").fill_null(0)
                for kind, name, dtype in _VARIANT_FIELDS:
                    is_kind = kinds == int(kind)
                    cells = series.struct.field(name).filter(is_kind)
                    found.setdefault(dtype, []).append((cells, ids[is_kind.to_numpy()]))
                has_others |= bool((~kinds.is_in([0, *(int(kind) for kind, _, _ in _VARIANT_FIELDS)])).any())
            elif any(series.dtype == dtype for dtype, _ in _KINDS):
                found.setdefault(series.dtype, []).append((series, ids))
            else:
                has_others = True
    parts: dict[str, list[_Part]] = {}
    for dtype, pieces in found.items():
        kind = next(kind for known, kind in _KINDS if known == dtype)
        part = _sorted([cells for cells, _ in pieces], np.concatenate([ids for _, ids in pieces]))
        if len(part.ids):
            parts.setdefault(kind, []).append(part)
    if has_others:
        parts["other"] = []
    return SortedIndex(parts)


def _sorted(cells: list[pl.Series], ids: Ids) -> _Part:
    series = pl.concat(cells) if len(cells) > 1 else cells[0]
    kept = series.is_not_null()
    if series.dtype == pl.Float64():
        kept &= series.is_not_nan()
    series, ids = series.filter(kept), ids[kept.to_numpy()]
    if series.dtype == pl.String():
        ordered = pl.DataFrame({"cell": series, "id": ids}).sort("cell", maintain_order=True)
        return _Part(ordered["cell"], ordered["id"].to_numpy(), str)  # pyright: ignore[reportArgumentType]  by place
    values = series.to_physical().cast(pl.Int64) if series.dtype != pl.Float64() else series
    array = values.to_numpy()
    order = np.argsort(array, kind="stable")
    return _Part(array[order], ids[order], float if series.dtype == pl.Float64() else int)  # pyright: ignore[reportArgumentType]  as above
