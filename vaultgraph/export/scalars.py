"""Property cells as YAML text that reads back as the same cells.

The inverse of note/frontmatter and note/values, used by `frontmatter`. Texts are quoted only where the reader would
take them for something else. It writes single values; keys, lists and lines are the caller's.
"""

import math
import re
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Final

from vaultgraph.note.frontmatter import TEXT, implicit_kind
from vaultgraph.note.records import ValueKind

Cell = tuple[int, int, int | None, float | None, str | None]
"""Ordinal, kind, number, real and text, as in PROPERTIES."""

_BAD: Final = "\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff"
_PLAIN: Final = re.compile(
    rf"[^{_BAD} \-?:,\[\]{{}}#&*!|>'\"%@`](?:[^{_BAD}:#]|:(?=[^{_BAD} ])|(?<! )#)*(?<! )", re.DOTALL
)
_IN_FLOW: Final = re.compile(r"[^,\[\]{}:#]*")
_PLAIN_KEY: Final = re.compile(r"[^\W_](?:[\w ./-]*\w)?")
_ESCAPED: Final = re.compile(rf'[\\"{_BAD}]')
_JSON_ESCAPED: Final = re.compile(rf"[{_BAD}]")
_SHORT: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}
_MOST_KEY_CHARS: Final = 1000  # libyaml wants `? ` before a longer key
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY: Final = 719_163  # 1970-01-01 as an ordinal
_FAR: Final = timedelta(hours=23, minutes=59)


def scalar_text(cell: Cell, *, in_flow: bool = False) -> str:
    """One line of YAML for ``cell``; ``in_flow``: it stands inside ``[…]``."""
    _, kind, number, real, text = cell
    match ValueKind(kind):
        case ValueKind.TEXT:
            return text_scalar(text or "", in_flow=in_flow)
        case ValueKind.INTEGER:
            return str(number)
        case ValueKind.FLOAT:
            return _real_text(real)
        case ValueKind.BOOLEAN:
            return "true" if number else "false"
        case ValueKind.DATE | ValueKind.LOCAL_DATETIME | ValueKind.UTC_DATETIME:
            return moment_text(kind, number or 0)
        case ValueKind.EMPTY_LIST:
            return "[]"
        case ValueKind.JSON:
            return _JSON_ESCAPED.sub(lambda found: _escape(found[0]), text or "[]")
        case _:  # what only queries make, as its text
            return text_scalar(text or "", in_flow=in_flow)


def text_scalar(text: str, *, in_flow: bool = False) -> str:
    """``text`` plain where that reads as the same text, else in the quotes that need no escape, else escaped."""
    if "\\u" in text:  # the reader joins halves of escaped pairs wherever they stand
        return _escaped(text)
    if _PLAIN.fullmatch(text) and implicit_kind(text) == TEXT and (not in_flow or _IN_FLOW.fullmatch(text)):
        return text
    if _ESCAPED.search(text) is None:
        return f'"{text}"'
    return f"'{text}'" if "'" not in text and not _JSON_ESCAPED.search(text) else _escaped(text)


def key_text(key: str) -> str:
    """A key with its colon, in a form that may take a value on the same line or a list below."""
    if len(key) > _MOST_KEY_CHARS:
        return f"? {_escaped(key)}\n:"
    return f"{key if _PLAIN_KEY.fullmatch(key) else _escaped(key)}:"


def literal_lines(text: str) -> list[str] | None:
    """The lines of ``text`` as a literal block, the indicator first; None where only quotes keep it exactly."""
    bare = text.removesuffix("\n")
    lines = bare.split("\n")
    is_fit = bool(lines[0]) and lines[0][0] != " " and bool(lines[-1].strip(" ")) and "\\u" not in text
    if not is_fit or any(_JSON_ESCAPED.search(line) for line in lines):
        return None
    return ["|" if text != bare else "|-", *(f"  {line}" if line else "" for line in lines)]


def moment_text(kind: int, number: int) -> str:
    """A date or a date-time as the notes write it; what no calendar has is quoted as the number it is kept as."""
    try:
        if kind == ValueKind.DATE:
            return date.fromordinal(number + _FIRST_DAY).isoformat()
        moment = _EPOCH + timedelta(microseconds=number)
    except (OverflowError, ValueError):
        return _far_moment_text(kind, number)
    return moment.replace(tzinfo=None).isoformat() + ("Z" if kind == ValueKind.UTC_DATETIME else "")


def _far_moment_text(kind: int, number: int) -> str:
    """A moment that is in a year of the calendar only by a clock far from UTC."""
    if kind == ValueKind.UTC_DATETIME:
        shift = _FAR if number < 0 else -_FAR
        try:
            moment = _EPOCH + (timedelta(microseconds=number) + shift)
        except OverflowError:
            return f'"{number}"'
        return moment.replace(tzinfo=timezone(shift)).isoformat()
    return f'"{number}"'


def _real_text(real: float | None) -> str:
    if real is None or math.isnan(real):
        return ".nan"
    if math.isinf(real):
        return ".inf" if real > 0 else "-.inf"
    return repr(real)


def _escaped(text: str) -> str:
    return '"' + _ESCAPED.sub(lambda found: _SHORT.get(found[0]) or _escape(found[0]), text) + '"'


def _escape(char: str) -> str:
    return f"\\u{ord(char):04x}"
