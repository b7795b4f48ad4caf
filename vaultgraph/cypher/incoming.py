"""Values from outside, such as the parameters of a query, as the engine has them.

Called by cypher/query before anything runs. What no query could have made is refused here, once.
"""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import cast

from vaultgraph.cypher.durations import Duration, make_duration
from vaultgraph.cypher.temporals import (
    LocalDateTime,
    LocalTime,
    Parts,
    Temporal,
    Time,
    ZonedDateTime,
    local_value,
    parts_of,
    zoned_value,
)
from vaultgraph.cypher.values import (
    Node,
    NodeRef,
    Path,
    PathRef,
    Refusal,
    Relationship,
    RelationshipRef,
    group_key,
    type_name,
)


def engine_value(value: object) -> object:
    """A value from outside as the engine has it: tuples become lists, Python's times, timedeltas and datetimes the
    values of queries that say the same, public nodes, relationships and paths references.

    Raises:
        Refusal: an integer beyond 64 bits, a text with half a surrogate pair, a map key that is no text, or a type no
            query has.
    """
    match value:
        case bool() | float() | None | NodeRef() | RelationshipRef() | PathRef():
            return value
        case str():
            return _engine_text(value)
        case int():
            if not -(2**63) <= value < 2**63:
                raise Refusal("an integer is beyond 64 bits.")
            return value
        case datetime() | time() | timedelta() | Temporal():
            return _engine_time(value)
        case date():
            return value
        case Duration():
            return _engine_duration(value)
        case Node() | Relationship() | Path():
            return group_key(value)
        case _ if isinstance(value, list | tuple):
            return [engine_value(item) for item in cast("Sequence[object]", value)]
        case _ if isinstance(value, dict):
            return _engine_map(cast("dict[object, object]", value))
        case _:
            raise Refusal(f"{type(value).__name__} is no type of query values.")


def _engine_time(value: datetime | time | timedelta | Temporal) -> object:
    match value:
        case timedelta():
            return Duration(0, value.days, value.seconds, value.microseconds * 1000)
        case time():
            nanoseconds = parts_of(datetime.combine(date.min, value.replace(tzinfo=None))).nanoseconds or 0
            offset = value.utcoffset()
            return LocalTime(nanoseconds) if offset is None else Time(nanoseconds, offset // timedelta(seconds=1))
        case datetime() | LocalDateTime() | ZonedDateTime():
            return _plainest(parts_of(value))
        case _:
            return value


def _engine_duration(value: Duration) -> Duration:
    try:
        return make_duration(value.months, value.days, value.seconds, value.nanoseconds)
    except OverflowError:
        raise Refusal("a duration has more than 18 digits.") from None


def _plainest(parts: Parts) -> object:
    """The datetime of parts, in the plainest class that holds it.

    Raises:
        Refusal: the year is out of range.
    """
    day, nanoseconds = parts.day or 0, parts.nanoseconds or 0
    try:
        if parts.offset is None:
            return local_value(day, nanoseconds)
        return zoned_value(day, nanoseconds, parts.offset, parts.zone)
    except OverflowError:
        raise Refusal("a datetime is out of range.") from None


def _engine_text(text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Refusal("a text holds half of a surrogate pair, which is no character.") from None
    return text


def _engine_map(value: dict[object, object]) -> dict[str, object]:
    made: dict[str, object] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise Refusal(f"a map key must be STRING, not {type_name(key)}.")
        made[_engine_text(key)] = engine_value(item)
    return made
