"""Values that have no type in columns, as they are stored: a kind and a text (note.records.ValueKind, ``Written``).

Read by cypher/entities, written by what changes graphs. The text is the ISO 8601 text of the value, so that a stored
value reads back as the same one on any machine, whatever zones it knows. That a file holds only such text is checked
when it is opened (graph/stored_times).
"""

import json
from collections.abc import Sequence
from datetime import date, datetime
from typing import cast

from vaultgraph.cypher.durations import Duration, parse_duration
from vaultgraph.cypher.temporal_text import (
    read_date,
    read_local_datetime,
    read_local_time,
    read_stored_datetime,
    read_time,
)
from vaultgraph.cypher.temporals import FarDate, LocalDateTime, LocalTime, Time, ZonedDateTime
from vaultgraph.graph.mutable import Written
from vaultgraph.note.records import ValueKind


def stored(value: object) -> object:
    """An engine value as a property holds it: moments and durations that have no type in columns become Written, at
    any depth of lists; all else stays as it is."""
    match value:
        case Time():
            return Written(ValueKind.TIME, str(value))
        case LocalTime():
            return Written(ValueKind.LOCAL_TIME, str(value))
        case ZonedDateTime():
            return Written(ValueKind.ZONED_DATETIME, str(value))
        case LocalDateTime():
            return Written(ValueKind.LOCAL_DATETIME_NS, str(value))
        case FarDate():
            return Written(ValueKind.FAR_DATE, str(value))
        case Duration():
            return Written(ValueKind.DURATION, str(value))
        case list():
            return [stored(item) for item in cast("list[object]", value)]
        case _:
            return value


def restored(kind: int, text: str) -> object:
    """The value that was stored as ``kind`` and ``text``; None where the text is of another form."""
    match kind:
        case ValueKind.TIME:
            return read_time(text, today=0)
        case ValueKind.LOCAL_TIME:
            return read_local_time(text)
        case ValueKind.ZONED_DATETIME:
            return read_stored_datetime(text)
        case ValueKind.LOCAL_DATETIME_NS:
            return read_local_datetime(text)
        case ValueKind.FAR_DATE:
            return read_date(text)
        case ValueKind.DURATION:
            return parse_duration(text)
        case ValueKind.LIST:
            items: Sequence[tuple[int, str]] = json.loads(text)
            return [_restored_item(item_kind, item_text) for item_kind, item_text in items]
        case _:
            return None


def _restored_item(kind: int, text: str) -> object:
    match kind:
        case ValueKind.DATE:
            return date.fromisoformat(text)
        case ValueKind.LOCAL_DATETIME:
            return datetime.fromisoformat(text)
        case ValueKind.UTC_DATETIME:
            return datetime.fromisoformat(f"{text}+00:00")
        case ValueKind.JSON:
            return json.loads(text)
        case _:
            return restored(kind, text)
