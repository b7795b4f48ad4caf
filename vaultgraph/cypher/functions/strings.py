"""Functions of texts: case, trimming, cutting, replacing, splitting.

Positions and lengths count characters (code points), 0-based. Part of the table in functions/registry.
"""

import unicodedata
from collections.abc import Callable, Sequence
from typing import Final

import polars as pl

from vaultgraph.cypher.execute.bindings import BoundColumn, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.kernels import text_bytes
from vaultgraph.cypher.execute.operand import Constant, Operand
from vaultgraph.cypher.functions.record import Function, Kernel, function
from vaultgraph.cypher.value_operators import MOST_JOINED
from vaultgraph.cypher.values import Refusal, is_list, type_name

_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""What counts as white space, spelled out so that both paths strip the same."""


def text_kernel(work: Callable[[pl.Series], pl.Series], dtype: pl.DataType | None = None) -> Kernel:
    """A kernel of one String argument; the result is cast to ``dtype`` where given."""

    def run(arguments: Sequence[Operand], _context: Context) -> BoundColumn | None:
        match arguments:
            case [ValueColumn(series)] if series.dtype == pl.String:
                made = work(series)
                return ValueColumn(made if dtype is None else made.cast(dtype))
            case _:
                return None

    return run


def _cut_kernel(work: Callable[[pl.Series, list[int]], pl.Series]) -> Kernel:
    """A kernel of a String column and constant lengths or positions that are not negative."""

    def run(arguments: Sequence[Operand], _context: Context) -> BoundColumn | None:
        first, *rest = arguments
        if not isinstance(first, ValueColumn) or first.series.dtype != pl.String:
            return None
        numbers: list[int] = []
        for one in rest:
            if not isinstance(one, Constant) or type(one.value) is not int or one.value < 0:
                return None
            numbers.append(one.value)
        return ValueColumn(work(first.series, numbers))

    return run


def _constant_texts(arguments: Sequence[Operand]) -> tuple[pl.Series, list[str]] | None:
    """A String column followed by constant texts that are not empty."""
    first, *rest = arguments
    if not isinstance(first, ValueColumn) or first.series.dtype != pl.String:
        return None
    texts = [one.value for one in rest if isinstance(one, Constant) and isinstance(one.value, str)]
    return (first.series, texts) if len(texts) == len(rest) and texts[0] else None


def _replace_kernel(arguments: Sequence[Operand], context: Context) -> BoundColumn | None:
    found = _constant_texts(arguments)
    if found is None:
        return None
    series, (search, replacement) = found
    if len(replacement) > len(search):
        hits = int(series.str.count_matches(search, literal=True).sum() or 0)
        context.budget.check(size=text_bytes(arguments[0], len(series)) + hits * len(replacement))
    return ValueColumn(series.str.replace_all(search, replacement, literal=True))


def _split_kernel(arguments: Sequence[Operand], context: Context) -> BoundColumn | None:
    found = _constant_texts(arguments)
    if found is None:
        return None
    series, (separator,) = found
    context.budget.check(int(series.str.count_matches(separator, literal=True).sum() or 0))
    return ValueColumn(series.str.split(separator))


def _not_negative(name: str, number: int) -> int:
    if number < 0:
        raise Refusal(f"{name}() needs a length or position that is not negative, not {number}.")
    return number


def _substring(text: str, start: int, length: int | None = None) -> str:
    begin = _not_negative("substring", start)
    return text[begin:] if length is None else text[begin : begin + _not_negative("substring", length)]


def _left(text: str, length: int) -> str:
    return text[: _not_negative("left", length)]


def _right(text: str, length: int) -> str:
    return text[max(0, len(text) - _not_negative("right", length)) :]


def _split(text: str, separator: object) -> list[object]:
    """An empty separator gives the single characters; of several separators the leftmost one found cuts."""
    if isinstance(separator, str):
        return list(text.split(separator) if separator else text)
    parts = [text]
    for one in separator if is_list(separator) else []:
        if not isinstance(one, str):
            raise Refusal(f"split() needs a list of STRING, not of {type_name(one)}.")
        parts = [piece for part in parts for piece in (part.split(one) if one else list(part))]
    return list(parts)


def _replace(text: str, search: str, replacement: str) -> str:
    grown = len(text) + (text.count(search) if len(replacement) > len(search) else 0) * len(replacement)
    if grown > MOST_JOINED:
        raise Refusal(f"replace() would make a text longer than {MOST_JOINED:,} characters.")
    return text.replace(search, replacement)


def _reverse(value: str | list[object]) -> str | list[object]:
    return value[::-1]


def _strip(text: str, characters: str = _SPACE) -> str:
    return text.strip(characters)


def _strip_left(text: str, characters: str = _SPACE) -> str:
    return text.lstrip(characters)


def _strip_right(text: str, characters: str = _SPACE) -> str:
    return text.rstrip(characters)


def _normalize(text: str, form: str = "NFC") -> str:
    match form:
        case "NFC" | "NFD" | "NFKC" | "NFKD":
            return unicodedata.normalize(form, text)
        case _:
            raise Refusal(f"normalize() knows the forms NFC, NFD, NFKC and NFKD, not {form}.")


def functions() -> tuple[Function, ...]:
    """The functions of this family."""
    lower, upper = (
        text_kernel(lambda texts: texts.str.to_lowercase()),
        text_kernel(lambda texts: texts.str.to_uppercase()),
    )
    length = text_kernel(lambda texts: texts.str.len_chars(), pl.Int64())
    return (
        function("toLower(text :: STRING) :: STRING", str.lower, lower),
        function("toUpper(text :: STRING) :: STRING", str.upper, upper),
        function("lower(text :: STRING) :: STRING", str.lower, lower),
        function("upper(text :: STRING) :: STRING", str.upper, upper),
        *(
            function(
                f"{name}(text :: STRING, characters? :: STRING) :: STRING",
                _strip,
                text_kernel(lambda texts: texts.str.strip_chars(_SPACE)),
            )
            for name in ("trim", "btrim")
        ),
        function("normalize(text :: STRING, form? :: STRING) :: STRING", _normalize),
        function(
            "ltrim(text :: STRING, characters? :: STRING) :: STRING",
            _strip_left,
            text_kernel(lambda texts: texts.str.strip_chars_start(_SPACE)),
        ),
        function(
            "rtrim(text :: STRING, characters? :: STRING) :: STRING",
            _strip_right,
            text_kernel(lambda texts: texts.str.strip_chars_end(_SPACE)),
        ),
        function(
            "replace(text :: STRING, search :: STRING, replacement :: STRING) :: STRING", _replace, _replace_kernel
        ),
        function("split(text :: STRING, separator :: STRING | LIST) :: LIST<STRING>", _split, _split_kernel),
        function(
            "substring(text :: STRING, start :: INTEGER, length? :: INTEGER) :: STRING",
            _substring,
            _cut_kernel(lambda texts, numbers: texts.str.slice(numbers[0], *numbers[1:])),
        ),
        function(
            "left(text :: STRING, length :: INTEGER) :: STRING",
            _left,
            _cut_kernel(lambda texts, numbers: texts.str.slice(0, numbers[0])),
        ),
        function("right(text :: STRING, length :: INTEGER) :: STRING", _right),
        function("reverse(value :: STRING | LIST) :: STRING | LIST", _reverse),
        function("char_length(text :: STRING) :: INTEGER", len, length),
        function("character_length(text :: STRING) :: INTEGER", len, length),
    )
