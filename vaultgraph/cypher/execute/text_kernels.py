"""Text predicates and ``IN`` on whole columns; twins of those in cypher/value_operators.

Like execute/kernels, a kernel declines with None whatever it cannot do exactly as its twin.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.cypher import regex
from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.execute.bindings import NodeColumn, RelationshipColumn, ValueColumn
from vaultgraph.cypher.execute.kernels import boolean_nulls, is_null_operand, series_of
from vaultgraph.cypher.execute.operand import Constant, Operand
from vaultgraph.cypher.values import NodeRef, RelationshipRef, is_list, is_number

_MOST_EXACT: Final = 2**53
_MOST_PATTERN_CHARS: Final = 1000
_BYTES_AT_ONCE: Final = 16_000_000
_PREDICATES: Final[Mapping[str, Callable[[pl.Expr, pl.Expr], pl.Expr]]] = MappingProxyType(
    {
        "STARTS WITH": lambda text, part: text.str.starts_with(part),
        "ENDS WITH": lambda text, part: text.str.ends_with(part),
        "CONTAINS": lambda text, part: text.str.contains(part, literal=True),
    }
)
_CONSTANT_PREDICATES: Final[Mapping[str, Callable[[pl.Series, str], pl.Series]]] = MappingProxyType(
    {
        "STARTS WITH": lambda texts, part: texts.str.starts_with(part),
        "ENDS WITH": lambda texts, part: texts.str.ends_with(part),
        "CONTAINS": lambda texts, part: _containing(texts, part),
        "=~": regex.matches,
    }
)


def _containing(texts: pl.Series, part: str) -> pl.Series:
    """Which texts hold ``part``. As a pattern it is looked for once for all texts, which is three times as fast."""
    if len(part) > _MOST_PATTERN_CHARS:
        return texts.str.contains(part, literal=True)
    return texts.str.contains(pl.escape_regex(part))


def text_predicate(operator: str, left: Operand, right: Operand, height: int, budget: Budget) -> ValueColumn | None:
    """``STARTS WITH``, ``ENDS WITH``, ``CONTAINS`` and ``=~``: Boolean, null unless both sides are texts.

    Raises:
        Refusal: a regular expression that cannot be used.
    """
    one, other = series_of(left), series_of(right)
    if one is None or other is None:
        return None
    if one.dtype != pl.String or other.dtype != pl.String:
        return boolean_nulls(height)
    if isinstance(right, Constant) and isinstance(right.value, str):
        test, value = _CONSTANT_PREDICATES[operator], right.value
        return ValueColumn(pl.concat([test(part, value) for part in _in_parts(one, budget)], rechunk=True))
    if operator not in _PREDICATES or isinstance(left, Constant):
        return None
    frame = pl.DataFrame({"text": one, "part": other})
    return ValueColumn(frame.select(_PREDICATES[operator](pl.col("text"), pl.col("part")))["text"])


def _in_parts(texts: pl.Series, budget: Budget) -> Iterator[pl.Series]:
    """The texts, some megabytes at a time."""
    size = int(texts.estimated_size())
    rows = len(texts) if size <= _BYTES_AT_ONCE else max(1, len(texts) * _BYTES_AT_ONCE // size)
    if rows >= len(texts):
        yield texts
        return
    for start in range(0, len(texts), rows):
        budget.check()
        yield texts.slice(start, rows)


def membership(left: Operand, right: Operand, height: int) -> ValueColumn | None:
    """``left IN right``: Boolean with nulls; for a constant list of plain values or nodes, or a typed list column."""
    if is_null_operand(right):
        return boolean_nulls(height)
    if isinstance(right, Constant):
        return _in_constant(left, right.value) if is_list(right.value) else None
    if isinstance(right, ValueColumn) and isinstance(right.series.dtype, pl.List):
        return _in_column(left, right.series)
    return None


def _in_constant(left: Operand, items: list[object]) -> ValueColumn | None:
    if not items:
        return ValueColumn(pl.repeat(value=False, n=_height(left), dtype=pl.Boolean, eager=True))
    has_null = any(item is None for item in items)
    if isinstance(left, NodeColumn | RelationshipColumn):
        kind = NodeRef if isinstance(left, NodeColumn) else RelationshipRef
        wanted = np.array([item.id for item in items if isinstance(item, kind)], dtype=np.int64)
        return _decided(pl.Series(np.isin(left.ids, wanted)), pl.Series(left.ids < 0), has_null=has_null)
    if not isinstance(left, ValueColumn):
        return None
    comparable = _comparable(items, left.series)
    if comparable is None:
        return None
    found = left.series.is_in(comparable).fill_null(value=False)
    return _decided(found, left.series.is_null(), has_null=has_null)


def _decided(found: pl.Series, is_null: pl.Series, *, has_null: bool) -> ValueColumn:
    """False becomes null where the left side or an item of the list is null."""
    unknown = (~found) if has_null else is_null
    return ValueColumn(found.set(unknown, None) if unknown.any() else found)


def _height(operand: Operand) -> int:
    match operand:
        case NodeColumn() | RelationshipColumn():
            return len(operand.ids)
        case ValueColumn():
            return len(operand.series)
        case Constant():
            return 1
        case _:
            return len(operand.values)


def _comparable(items: list[object], series: pl.Series) -> pl.Series | None:
    """The items that can equal a cell of ``series``, as a Series of its dtype; None to decline."""
    if series.dtype == pl.String:
        return pl.Series([item for item in items if isinstance(item, str)], dtype=pl.String)
    if series.dtype == pl.Int64:
        numbers = [item for item in items if is_number(item) and item == item]
        whole = [int(item) for item in numbers if -(2**63) <= item < 2**63 and item == int(item)]
        return pl.Series(whole, dtype=pl.Int64)
    if series.dtype == pl.Float64:
        numbers = [item for item in items if is_number(item) and item == item]
        if any(isinstance(item, int) and abs(item) > _MOST_EXACT for item in numbers):
            return None
        return pl.Series([float(item) for item in numbers], dtype=pl.Float64)
    if series.dtype == pl.Boolean:
        return pl.Series([item for item in items if isinstance(item, bool)], dtype=pl.Boolean)
    return None


def _in_column(left: Operand, lists: pl.Series) -> ValueColumn | None:
    item = series_of(left)
    inner = getattr(lists.dtype, "inner", None)
    if item is None or inner != item.dtype or inner not in (pl.String, pl.Int64, pl.Boolean, pl.Date):
        return None
    frame = pl.DataFrame({"lists": lists})
    if isinstance(left, Constant):
        found = frame.select(pl.col("lists").list.contains(pl.lit(left.value, dtype=inner)))["lists"]
        is_null = pl.repeat(value=False, n=len(lists), dtype=pl.Boolean, eager=True)
    else:
        found = frame.with_columns(item=item).select(pl.col("lists").list.contains(pl.col("item")))["lists"]
        is_null = item.is_null() & (lists.list.len() > 0)
        found = found.set(item.is_null(), value=False)
    has_null = lists.list.eval(pl.element().is_null()).list.any().fill_null(value=False)
    unknown = (is_null | has_null) & ~found.fill_null(value=False) | lists.is_null()
    return ValueColumn(found.set(unknown, None) if unknown.any() else found)
