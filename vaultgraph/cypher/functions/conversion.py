"""Functions from one type to another, and the type of a value as text.

Texts that do not read as the wanted type give null, other types an error; the OrNull forms give null for both. Part of
the table in functions/registry.
"""

import math
import re
import uuid
from collections.abc import Callable, Sequence
from typing import Final

import polars as pl

from vaultgraph.cypher.execute.bindings import BoundColumn, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.operand import Operand
from vaultgraph.cypher.functions.record import Function, function
from vaultgraph.cypher.value_operators import LEAST_INTEGER, MOST_INTEGER, text_of
from vaultgraph.cypher.values import Refusal, is_list, is_number, type_name

_TEXT_ALIKE: Final[tuple[pl.DataType, ...]] = (pl.String(), pl.Int64(), pl.Boolean(), pl.Date())
_WHOLE: Final[tuple[pl.DataType, ...]] = (pl.Int64(), pl.Boolean())
_NUMBER: Final = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d{1,4})?", re.ASCII)


def to_integer(value: object) -> int | None:
    """The integer of a number (towards zero), boolean or numeric text."""
    if isinstance(value, str):
        return _parsed_integer(value.strip())
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return _fitting(int(value))
    if isinstance(value, int):
        return int(value)
    raise Refusal(f"toInteger() needs a number, text or boolean, not {type_name(value)}.")


def to_float(value: object) -> float | None:
    """The float of a number or numeric text."""
    if isinstance(value, str):
        text = value.strip()
        return float(text) if _NUMBER.fullmatch(text) else _SPECIAL.get(text.lower())
    if is_number(value):
        return float(value)
    raise Refusal(f"toFloat() needs a number or text, not {type_name(value)}.")


def to_boolean(value: object) -> bool | None:
    """The boolean of a boolean, integer (0 is false) or of the texts true and false."""
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    if isinstance(value, bool | int):
        return bool(value)
    raise Refusal(f"toBoolean() needs a text, boolean or integer, not {type_name(value)}.")


def to_string(value: object) -> str:
    """The text of a plain value."""
    try:
        return text_of(value)
    except Refusal:
        raise Refusal(f"toString() needs a plain value, not {type_name(value)}.") from None


_SPECIAL: Final = {
    "nan": math.nan,
    "infinity": math.inf,
    "+infinity": math.inf,
    "-infinity": -math.inf,
}


def _parsed_integer(text: str) -> int | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    if match[2] is None and match[3] is None and not text.lstrip("+-").startswith("."):
        return _fitting(int(text)) if len(text) < 400 else None
    number = float(text)
    return _fitting(int(number)) if math.isfinite(number) else None


def _fitting(number: int) -> int | None:
    return number if LEAST_INTEGER <= number <= MOST_INTEGER else None


def _or_null(convert: Callable[[object], object]) -> Callable[[object], object]:
    def run(value: object) -> object:
        try:
            return convert(value)
        except Refusal:
            return None

    return run


def _each(convert: Callable[[object], object]) -> Callable[[list[object]], list[object]]:
    """Every item converted, those that cannot be become null."""
    one = _or_null(convert)

    def run(items: list[object]) -> list[object]:
        return [None if item is None else one(item) for item in items]

    return run


def value_type(value: object) -> str:
    """The type with its inner types, as ``LIST<INTEGER NOT NULL> NOT NULL``."""
    if value is None:
        return "NULL"
    if is_list(value):
        inner = sorted({value_type(item) for item in value})
        return f"LIST<{' | '.join(inner) or 'NOTHING'}> NOT NULL"
    return f"{type_name(value)} NOT NULL"


def _random_uuid() -> str:
    return str(uuid.uuid4())


def _string_kernel(arguments: Sequence[Operand], _context: Context) -> BoundColumn | None:
    match arguments:
        case [ValueColumn(series)] if series.dtype in _TEXT_ALIKE:
            return ValueColumn(series.cast(pl.String))
        case _:
            return None


def _integer_kernel(arguments: Sequence[Operand], _context: Context) -> BoundColumn | None:
    match arguments:
        case [ValueColumn(series)] if series.dtype in _WHOLE:
            return ValueColumn(series.cast(pl.Int64))
        case _:
            return None


def _float_kernel(arguments: Sequence[Operand], _context: Context) -> BoundColumn | None:
    match arguments:
        case [ValueColumn(series)] if series.dtype.is_numeric():
            return ValueColumn(series.cast(pl.Float64))
        case _:
            return None


def functions() -> tuple[Function, ...]:
    """The functions of this family."""
    return (
        function("toInteger(value :: STRING | NUMBER | BOOLEAN) :: INTEGER", to_integer, _integer_kernel),
        function("toFloat(value :: STRING | NUMBER) :: FLOAT", to_float, _float_kernel),
        function("toBoolean(value :: STRING | BOOLEAN | INTEGER) :: BOOLEAN", to_boolean),
        function("toString(value :: ANY) :: STRING", to_string, _string_kernel),
        function("toIntegerOrNull(value :: ANY) :: INTEGER", _or_null(to_integer), _integer_kernel),
        function("toFloatOrNull(value :: ANY) :: FLOAT", _or_null(to_float), _float_kernel),
        function("toBooleanOrNull(value :: ANY) :: BOOLEAN", _or_null(to_boolean)),
        function("toStringOrNull(value :: ANY) :: STRING", _or_null(to_string), _string_kernel),
        function("toIntegerList(list :: LIST) :: LIST<INTEGER>", _each(to_integer)),
        function("toFloatList(list :: LIST) :: LIST<FLOAT>", _each(to_float)),
        function("toBooleanList(list :: LIST) :: LIST<BOOLEAN>", _each(to_boolean)),
        function("toStringList(list :: LIST) :: LIST<STRING>", _each(to_string)),
        function("valueType(value :: ANY) :: STRING", value_type, null_through=False),
        function("randomUUID() :: STRING", _random_uuid, is_volatile=True),
    )
