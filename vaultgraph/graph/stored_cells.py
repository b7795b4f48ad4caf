"""Checks of property cells from a .kgl file, before anything relies on them: kinds, times, JSON.

Called by graph/stored_columns and graph/stored_records; moments and durations held as text are stored_times' part.
"""

import json
from datetime import date
from typing import Final

import polars as pl

from vaultgraph.graph.columns import VARIANT
from vaultgraph.graph.stored_times import stored_times_fault
from vaultgraph.note.records import ValueKind

_EPOCH: Final = date(1970, 1, 1).toordinal()
_DAYS: Final = (date.min.toordinal() - _EPOCH, date.max.toordinal() - _EPOCH)
_MICROSECONDS: Final = (_DAYS[0] * 86_400_000_000, (_DAYS[1] + 1) * 86_400_000_000 - 1)
_TIMES: Final = {
    ValueKind.DATE: _DAYS,
    ValueKind.LOCAL_DATETIME: _MICROSECONDS,
    ValueKind.UTC_DATETIME: _MICROSECONDS,
}
_TIME_DTYPES: Final = {
    ValueKind.DATE: pl.Date(),
    ValueKind.LOCAL_DATETIME: pl.Datetime("us"),
    ValueKind.UTC_DATETIME: pl.Datetime("us", "UTC"),
}


def variant_fault(kinds: pl.Series, numbers: pl.Series, texts: pl.Series) -> str | None:
    """What is wrong with cells of several kinds, each in the column that its kind says; None where nothing is.

    Whoever reads such a cell relies on the kind, on times that a calendar has, and on JSON that can be parsed.
    """
    if not kinds.drop_nulls().is_between(0, max(ValueKind)).all():  # 0 is a missing cell
        return "has cells of an unknown kind"
    for kind, (least, most) in _TIMES.items():
        times = numbers.filter(kinds == kind)
        if times.null_count() or not times.is_between(least, most).all():
            return "has a time that no calendar has"
    try:
        for text in texts.filter(kinds == ValueKind.JSON).drop_nulls():
            if text:
                json.loads(text)
    except (ValueError, RecursionError):
        return "has a cell that is not JSON"
    return stored_times_fault(kinds, texts)


def pool_fault(pool: pl.Series) -> str | None:
    """What is wrong with the values of properties of one dtype, or lists of it; None where nothing is."""
    dtype = pool.dtype.inner if isinstance(pool.dtype, pl.List) else pool.dtype
    kind = next((kind for kind, time in _TIME_DTYPES.items() if dtype == time), None)
    if dtype != VARIANT and kind is None:
        return None
    cells = (pool.explode() if isinstance(pool.dtype, pl.List) else pool).drop_nulls()
    if kind is None:
        return variant_fault(*(cells.struct.field(name) for name in ("kind", "number", "text")))
    return None if cells.to_physical().is_between(*_TIMES[kind]).all() else "has a time that no calendar has"
