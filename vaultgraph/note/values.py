"""What a frontmatter scalar is worth: from its kind and text to the columns of a property cell.

Used for every distinct scalar by `properties`, and by `tree` for what stands inside a list's maps.
"""

import math
from datetime import UTC, datetime, timedelta
from typing import Final

from vaultgraph.note.frontmatter import DATETIME_PARTS, days_of
from vaultgraph.note.records import ValueKind

# kinds of cells beyond those of scalars
JSON: Final = "json"
EMPTY_LIST: Final = "empty list"
TEMPLATE: Final = "template"  # a text that is never looked into

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)

Native = tuple[int, int | None, float | None, str | None]
"""Value kind, number, real and text, as in PROPERTIES."""


def native(kind: str, text: str) -> Native:
    """The columns of a cell that is not null; what a kind cannot hold stays text."""
    match kind:
        case "boolean":
            return ValueKind.BOOLEAN, int(text[0] in "tT"), None, None
        case "integer":
            number = _integer(text)
            if number is not None:
                return ValueKind.INTEGER, number, None, None
        case "float":
            return ValueKind.FLOAT, None, _real(text), None
        case "date":
            return ValueKind.DATE, days_of(text), None, None
        case "datetime":
            moment = _moment(text)
            if moment is not None:
                return *moment, None, None
        case "json":
            return ValueKind.JSON, None, None, text
        case "empty list":
            return ValueKind.EMPTY_LIST, None, None, None
        case _:
            pass
    return ValueKind.TEXT, None, None, text


def _integer(text: str) -> int | None:
    """None where the number does not fit 64 bits."""
    if len(text) > 66:
        return None
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    number = int(text, base)
    return number if -(2**63) <= number < 2**63 else None


def _real(text: str) -> float:
    word = text.lower().lstrip("+-")
    if word == ".nan":
        return math.nan
    if word == ".inf":
        return -math.inf if text[0] == "-" else math.inf
    return float(text)


def _moment(text: str) -> tuple[int, int] | None:
    """Value kind and microseconds since 1970; a datetime without a zone counts as if it were UTC."""
    found = DATETIME_PARTS.fullmatch(text)
    if found is None:
        return None
    day, hour, minute, second, fraction, zone = found.groups()
    zone = zone if zone is None or zone == "Z" or ":" in zone else f"{zone[:3]}:{zone[3:]}"
    try:
        moment = datetime.fromisoformat(f"{day}T{hour}:{minute}:{second or '00'}{zone or '+00:00'}")
    except ValueError:
        return None
    micros = int((fraction or "0")[:6].ljust(6, "0"))
    number = (moment - _EPOCH) // _MICROSECOND + micros
    return (ValueKind.LOCAL_DATETIME if zone is None else ValueKind.UTC_DATETIME), number
