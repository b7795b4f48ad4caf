"""Operators on whole typed columns: comparison, arithmetic, logic. Each has its twin in cypher/value_operators.

A kernel declines with None whatever it cannot do exactly as its twin would: mixed types, integer overflow, division by
zero, numbers beyond 2^53 beside floats. The row loop then gives the value, or the error.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.cypher.execute.bindings import NodeColumn, RelationshipColumn, ValueColumn
from vaultgraph.cypher.execute.fetch import from_constant
from vaultgraph.cypher.execute.operand import Constant, Operand
from vaultgraph.cypher.temporals import ZonedDateTime, utc_value
from vaultgraph.frozen import frozen

Numbers = npt.NDArray[np.int64] | npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Comparing = Callable[[Numbers, Numbers], Flags]

_MOST_EXACT: Final = 2**53  # integers up to this are the same as floats
_COMPARE: Final[Mapping[str, Comparing]] = MappingProxyType(
    {
        "=": lambda left, right: left == right,
        "<>": lambda left, right: left != right,
        "<": lambda left, right: left < right,
        "<=": lambda left, right: left <= right,
        ">": lambda left, right: left > right,
        ">=": lambda left, right: left >= right,
    }
)


def series_of(operand: Operand) -> pl.Series | None:
    """The operand as a Series (a constant as one of length 1), None where it is not typed.

    A datetime in another zone comes as the same instant in UTC: to whatever works on columns they are equal.
    """
    if isinstance(operand, Constant):
        value = operand.value
        column = from_constant((utc_value(value) or value) if isinstance(value, ZonedDateTime) else value, 1)
    else:
        column = operand
    return column.series if isinstance(column, ValueColumn) else None


def is_null_operand(operand: Operand) -> bool:
    """Whether every cell is null, by type alone."""
    if isinstance(operand, Constant):
        return operand.value is None
    return isinstance(operand, ValueColumn) and operand.series.dtype == pl.Null


def boolean_nulls(height: int) -> ValueColumn:
    """A Boolean column of nulls."""
    return ValueColumn(pl.repeat(None, height, dtype=pl.Boolean, eager=True))


def compare_columns(operator: str, left: Operand, right: Operand, height: int) -> ValueColumn | None:
    """``left operator right`` for one of ``= <> < <= > >=``: Boolean with nulls."""
    if is_null_operand(left) or is_null_operand(right):
        return boolean_nulls(height)
    if isinstance(left, NodeColumn | RelationshipColumn) and type(left) is type(right):
        return _compare_ids(operator, left, cast("NodeColumn | RelationshipColumn", right))
    one, other = series_of(left), series_of(right)
    if one is None or other is None:
        return None
    if one.dtype.is_numeric() and other.dtype.is_numeric():
        return _compare_numbers(operator, one, other, height)
    if isinstance(one.dtype, pl.List) and isinstance(other.dtype, pl.List):
        return None
    if one.dtype == other.dtype:
        compared = cast("pl.Series", _COMPARE[operator](cast("Numbers", one), cast("Numbers", other)))
        return ValueColumn(compared)
    return _compare_unlike(operator, one, other, height)


def _compare_ids(
    operator: str, left: NodeColumn | RelationshipColumn, right: NodeColumn | RelationshipColumn
) -> ValueColumn:
    if operator not in ("=", "<>"):
        return boolean_nulls(len(left.ids))
    return _flags(_COMPARE[operator](left.ids, right.ids), (left.ids >= 0) & (right.ids >= 0))


def _compare_unlike(operator: str, one: pl.Series, other: pl.Series, height: int) -> ValueColumn:
    """Values of different types: never equal, in no order; null where either is."""
    if operator not in ("=", "<>"):
        return boolean_nulls(height)
    known = np.ones(height, dtype=np.bool_) & one.is_not_null().to_numpy() & other.is_not_null().to_numpy()
    return _flags(np.full(height, operator == "<>"), known)


def _compare_numbers(operator: str, one: pl.Series, other: pl.Series, height: int) -> ValueColumn | None:
    left, right = _numbers(one), _numbers(other)
    if one.dtype != other.dtype and not (left.is_exact_as_float() and right.is_exact_as_float()):
        return None
    result = np.broadcast_to(_COMPARE[operator](left.values, right.values), height)
    return _flags(result, _both_known(left, right))


@frozen
class _Side:
    """One numeric side as numpy: ``known`` is None where no cell is null; null cells hold 0."""

    values: Numbers
    known: Flags | None

    def is_exact_as_float(self) -> bool:
        """Whether turning the values into floats changes none of them."""
        if self.values.dtype == np.float64 or not len(self.values):
            return True
        return int(self.values.min()) >= -_MOST_EXACT and int(self.values.max()) <= _MOST_EXACT


def _numbers(series: pl.Series) -> _Side:
    known = series.is_not_null().to_numpy() if series.null_count() else None
    filled = series if known is None else series.fill_null(0)
    return _Side(filled.to_numpy(), known)


def _both_known(left: _Side, right: _Side) -> Flags | None:
    if left.known is None or right.known is None:
        return right.known if left.known is None else left.known
    return left.known & right.known


def _flags(values: Flags, known: Flags | None) -> ValueColumn:
    series = pl.Series(values)
    return ValueColumn(series if known is None else _nulled(series, known))


def _nulled(series: pl.Series, known: Flags) -> pl.Series:
    """The series with null where not ``known``, which may be of length 1."""
    if len(known) != len(series):
        known = np.broadcast_to(known, len(series)).copy()
    return series if known.all() else series.set(pl.Series(~known), None)


def text_bytes(operand: Operand, height: int) -> int:
    """About how many bytes the texts of ``height`` rows take; 0 of what is no text."""
    match operand:
        case ValueColumn(series) if series.dtype == pl.String:
            return int(series.str.len_bytes().sum() or 0)
        case Constant(str() as text):
            return len(text) * height
        case _:
            return 0


def calculate(operator: str, left: Operand, right: Operand, height: int) -> ValueColumn | None:
    """``+ - * / %`` of two numeric columns, or ``+`` and ``||`` of two text columns."""
    if is_null_operand(left) or is_null_operand(right):
        return ValueColumn(pl.repeat(None, height, dtype=pl.Null, eager=True))
    one, other = series_of(left), series_of(right)
    if one is None or other is None:
        return None
    if one.dtype == pl.String and other.dtype == pl.String and operator in ("+", "||"):
        return ValueColumn(one + other)
    if operator not in _INTEGER or not (one.dtype.is_numeric() and other.dtype.is_numeric()):
        return None
    sides = _numbers(one), _numbers(other)
    with np.errstate(all="ignore"):
        if one.dtype == pl.Int64 and other.dtype == pl.Int64:
            values = _INTEGER[operator](*sides)
        else:
            values = _FLOAT[operator](sides[0].values.astype(np.float64), sides[1].values.astype(np.float64))
    if values is None:
        return None
    known = _both_known(*sides)
    series = pl.Series(values)
    return ValueColumn(series if known is None else _nulled(series, known))


def negated(operand: Operand) -> ValueColumn | None:
    """Unary ``-`` of a numeric column."""
    series = series_of(operand)
    if series is None or not series.dtype.is_numeric():
        return None
    if series.dtype == pl.Int64 and series.min() == -(2**63):
        return None
    return ValueColumn(-series)


def _added(left: _Side, right: _Side) -> Numbers | None:
    result = left.values + right.values
    overflow = ((left.values ^ result) & (right.values ^ result)) < 0  # type: ignore[operator]
    return None if overflow.any() else result


def _subtracted(left: _Side, right: _Side) -> Numbers | None:
    result = left.values - right.values
    overflow = ((left.values ^ right.values) & (left.values ^ result)) < 0  # type: ignore[operator]
    return None if overflow.any() else result


def _multiplied(left: _Side, right: _Side) -> Numbers | None:
    estimate = np.abs(left.values.astype(np.float64) * right.values.astype(np.float64))
    return None if (estimate >= 2.0**62).any() else left.values * right.values


def _divided(left: _Side, right: _Side) -> Numbers | None:
    divisor = right.values if right.known is None else np.where(right.known, right.values, 1)
    if not divisor.all() or (left.values == -(2**63)).any() or (divisor == -(2**63)).any():
        return None
    quotient = np.abs(left.values) // np.abs(divisor)
    return np.where((left.values < 0) == (divisor < 0), quotient, -quotient)


def _remainder(left: _Side, right: _Side) -> Numbers | None:
    divisor = right.values if right.known is None else np.where(right.known, right.values, 1)
    if not divisor.all() or (divisor == -1).any():
        return None
    return np.fmod(left.values, divisor)


_INTEGER: Final[Mapping[str, Callable[[_Side, _Side], Numbers | None]]] = MappingProxyType(
    {"+": _added, "-": _subtracted, "*": _multiplied, "/": _divided, "%": _remainder}
)
_FLOAT: Final[Mapping[str, Callable[[npt.NDArray[np.float64], npt.NDArray[np.float64]], npt.NDArray[np.float64]]]] = (
    MappingProxyType(
        {
            "+": lambda left, right: left + right,
            "-": lambda left, right: left - right,
            "*": lambda left, right: left * right,
            "/": lambda left, right: left / right,
            "%": lambda left, right: np.fmod(left, right),
        }
    )
)


def logic(operator: str, left: Operand, right: Operand, height: int) -> ValueColumn | None:
    """``AND``, ``OR``, ``XOR`` of two Boolean (or null) columns."""
    one, other = _booleans(left, height), _booleans(right, height)
    if one is None or other is None:
        return None
    if operator == "AND":
        return ValueColumn(one & other)
    return ValueColumn(one | other if operator == "OR" else one ^ other)


def inverted(operand: Operand, height: int) -> ValueColumn | None:
    """``NOT`` of a Boolean (or null) column."""
    series = _booleans(operand, height)
    return None if series is None else ValueColumn(~series)


def _booleans(operand: Operand, height: int) -> pl.Series | None:
    if is_null_operand(operand):
        return pl.repeat(None, height, dtype=pl.Boolean, eager=True)
    series = series_of(operand)
    return series if series is not None and series.dtype == pl.Boolean else None
