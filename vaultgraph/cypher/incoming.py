"""Values from outside, such as the parameters of a query, as the engine has them.

Called by cypher/query before anything runs. What no query could have made is refused here, once.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
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
from vaultgraph.cypher.zones import DAY, MOST_OFFSET, is_zone


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
            parts = _parts_of_datetime(datetime.combine(date(1970, 1, 1), value))
            nanoseconds = parts.nanoseconds or 0
            return LocalTime(nanoseconds) if parts.offset is None else Time(nanoseconds, parts.offset)
        case datetime():
            return _plainest(_parts_of_datetime(value))
        case _:
            parts = parts_of(value)
            if not 0 <= (parts.nanoseconds or 0) < DAY or abs(parts.offset or 0) > MOST_OFFSET:
                raise Refusal(f"{type(value).__name__} has a time of day or an offset that there is not.")
            if parts.zone is not None and not is_zone(parts.zone):
                raise Refusal(f"there is no time zone {parts.zone}.")
            return _plainest(parts) if isinstance(value, LocalDateTime | ZonedDateTime) else value


def _engine_duration(value: Duration) -> Duration:
    try:
        return make_duration(value.months, value.days, value.seconds, value.nanoseconds)
    except OverflowError:
        raise Refusal("a duration has more than 18 digits.") from None


def _parts_of_datetime(value: datetime) -> Parts:
    """The parts; in UTC where the offset is one that text cannot tell, without the zone where nobody knows its name.

    Raises:
        Refusal: the year is out of range.
    """
    offset = value.utcoffset()
    if offset is not None and (offset.microseconds or abs(offset) > timedelta(seconds=MOST_OFFSET)):
        try:
            value = value.astimezone(UTC)
        except OverflowError:
            raise Refusal("a datetime is out of range.") from None
    parts = parts_of(value)
    return parts if parts.zone is None or is_zone(parts.zone) else replace(parts, zone=None)


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
