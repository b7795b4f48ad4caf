"""Moments made of maps of fields, taken from other moments with some fields changed, and cut down to a unit.

Used by functions/temporal; works on the parts of moments (cypher/temporals), whatever type is wanted in the end.
Reading text is cypher/temporal_text's work.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from types import MappingProxyType
from typing import Final

from vaultgraph.cypher.days import (
    date_of,
    day_number,
    day_of_quarter,
    day_of_week,
    day_of_year,
    week_of,
    weekday_of,
)
from vaultgraph.cypher.temporals import (
    FarDate,
    LocalDateTime,
    LocalTime,
    Parts,
    Temporal,
    Time,
    ZonedDateTime,
    date_value,
    instant_of,
    local_value,
    parts_of,
    zoned_at,
    zoned_in,
)
from vaultgraph.cypher.values import Refusal, type_name
from vaultgraph.cypher.zones import DAY, SECOND, is_zone, offset_at, read_offset

Fields = Mapping[str, object]

_DATE_FIELDS: Final = frozenset(
    {"date", "year", "month", "day", "week", "dayofweek", "quarter", "dayofquarter", "ordinalday"}
)
_TIME_FIELDS: Final = frozenset({"time", "hour", "minute", "second", "millisecond", "microsecond", "nanosecond"})
_ZONE: Final = frozenset({"timezone"})
_EPOCH: Final = frozenset({"epochseconds", "epochmillis"})
_EITHER: Final = frozenset({"datetime"})
_OF_DATE: Final = _DATE_FIELDS | _EITHER
_OF_LOCAL_TIME: Final = _TIME_FIELDS | _EITHER
_OF_TIME: Final = _OF_LOCAL_TIME | _ZONE
_OF_LOCAL_DATETIME: Final = _DATE_FIELDS | _OF_LOCAL_TIME
_OF_DATETIME: Final = _OF_LOCAL_DATETIME | _ZONE | _EPOCH
_FRACTIONS: Final = frozenset({"millisecond", "microsecond", "nanosecond"})
_HOUR: Final = 3600 * SECOND
_MINUTE: Final = 60 * SECOND
_STEPS: Final[Mapping[str, int]] = MappingProxyType(
    {"hour": _HOUR, "minute": _MINUTE, "second": SECOND, "millisecond": 1_000_000, "microsecond": 1000}
)


def date_of_fields(fields: Fields, base: Parts | None = None) -> date | FarDate:
    """The day of ``{year, month, day}``, of a week, quarter or day of the year, or of ``{date: other, …}``.

    ``base`` stands for a ``date``, ``time`` or ``datetime`` among the fields, here and below.

    Raises:
        Refusal: an unknown field, one that is not an integer, no year, or no such day.
    """
    given = _known(fields, _OF_DATE, "date()")
    try:
        return date_value(_day(given, base))
    except (ValueError, OverflowError) as error:
        raise Refusal(f"These fields are no date: {error}.") from None


def local_time_of_fields(fields: Fields, base: Parts | None = None) -> LocalTime:
    """The time of day of ``{hour, minute, second, millisecond, microsecond, nanosecond}``, or of ``{time: other, …}``.

    Raises:
        Refusal: an unknown field, one that is not an integer, or no such time.
    """
    given = _known(fields, _OF_LOCAL_TIME, "localtime()")
    try:
        return LocalTime(_nanoseconds(given, _time_source(given, base)))
    except ValueError as error:
        raise Refusal(f"These fields are no time: {error}.") from None


def time_of_fields(fields: Fields, today: int, base: Parts | None = None) -> Time:
    """The time of day of time fields and ``timezone``: an offset, or a zone that counts with its offset ``today``.

    Raises:
        Refusal: an unknown field, one that is not an integer, no such time or zone.
    """
    given = _known(fields, _OF_TIME, "time()")
    source = _time_source(given, base)
    try:
        nanoseconds = _nanoseconds(given, source)
    except ValueError as error:
        raise Refusal(f"These fields are no time: {error}.") from None
    if "timezone" not in given:
        return Time(nanoseconds, source.offset or 0)
    place = place_of(given["timezone"])
    offset = place if isinstance(place, int) else offset_at(place, (today * DAY + nanoseconds) // SECOND)
    if source.offset is not None:
        nanoseconds = (nanoseconds + (offset - source.offset) * SECOND) % DAY
    return Time(nanoseconds, offset)


def local_datetime_of_fields(fields: Fields, base: Parts | None = None) -> datetime | LocalDateTime:
    """The datetime of date and time fields, without a zone.

    Raises:
        Refusal: an unknown field, one that is not an integer, no year, or no such moment.
    """
    given = _known(fields, _OF_LOCAL_DATETIME, "localdatetime()")
    try:
        return local_value(_day(given, base), _nanoseconds(given, _time_source(given, base)))
    except (ValueError, OverflowError) as error:
        raise Refusal(f"These fields are no datetime: {error}.") from None


def datetime_of_fields(fields: Fields, base: Parts | None = None) -> datetime | ZonedDateTime:
    """The datetime of date fields, time fields and ``timezone``, or of ``{epochSeconds}`` or ``{epochMillis}``.

    A ``timezone`` beside a source that has one converts; beside one without it says where its clocks stand.

    Raises:
        Refusal: an unknown field, one that is not an integer, no year, no such moment or zone.
    """
    given = _known(fields, _OF_DATETIME, "datetime()")
    place = place_of(given["timezone"]) if "timezone" in given else None
    try:
        if given.keys() & _EPOCH:
            nanoseconds = _number(given, "epochseconds", 0) * SECOND + _number(given, "epochmillis", 0) * 1_000_000
            return zoned_at(nanoseconds + _fraction(given), 0 if place is None else place)
        source = _time_source(given, base)
        day, nanoseconds = _day(given, base), _nanoseconds(given, source)
        if source.offset is None:
            return zoned_in(day, nanoseconds, 0 if place is None else place)
        own = source.offset if source.zone is None else source.zone
        made = zoned_in(day, nanoseconds, own, source.offset)
        return made if place is None else zoned_at(instant_of(parts_of(made)), place)
    except (ValueError, OverflowError) as error:
        raise Refusal(f"These fields are no datetime: {error}.") from None


def place_of(name: object) -> int | str:
    """The offset in seconds, or the name of the zone, called ``+02:00``, ``Z`` or ``Europe/Berlin``.

    Raises:
        Refusal: there is none.
    """
    if isinstance(name, str):
        offset = read_offset(name)
        if offset is not None:
            return offset
        if is_zone(name):
            return name
    raise Refusal(f"There is no time zone {name}. Write a name such as 'Europe/Berlin', an offset or 'Z'.")


def truncated(parts: Parts, unit: str, what: str) -> Parts:
    """The start of the unit that a moment is in; ``what`` names its type in errors.

    Raises:
        Refusal: an unknown unit, one of days for a time of day, or one below a day for a date.
    """
    name = unit.lower()
    step = _STEPS.get(name)
    if step is not None and parts.nanoseconds is not None:
        return replace(parts, nanoseconds=parts.nanoseconds // step * step)
    if name == "day" and parts.day is None:
        return replace(parts, nanoseconds=0)
    day = None if parts.day is None else _truncated_day(parts.day, name)
    if day is None:
        units = [] if parts.day is None else ["millennium", "century", "decade", "year", "weekYear", "quarter"]
        units += ["day"] if parts.day is None else ["month", "week", "day"]
        units += [] if parts.nanoseconds is None else list(_STEPS)
        raise Refusal(f"{what} cannot be cut to '{unit}'. Units: {', '.join(units)}.")
    return replace(parts, day=day, nanoseconds=None if parts.nanoseconds is None else 0)


def refined(fields: Fields, parts: Parts, unit: str) -> tuple[dict[str, object], Parts]:
    """The fields and the base to set them on, after a cut to ``unit``: what is kept of the second stays, and a
    ``timezone`` takes the place of the one there was."""
    given: dict[str, object] = {key.lower(): value for key, value in fields.items()}
    nanoseconds = parts.nanoseconds or 0
    if unit.lower() == "millisecond" and given.keys() & {"microsecond", "nanosecond"}:
        given.setdefault("millisecond", nanoseconds // 1_000_000 % 1000)
    elif unit.lower() == "microsecond" and "nanosecond" in given:
        given.setdefault("microsecond", nanoseconds // 1000 % 1_000_000)
    return given, replace(parts, offset=None, zone=None) if "timezone" in given else parts


def _truncated_day(day: int, unit: str) -> int | None:
    year, month, _ = date_of(day)
    match unit:
        case "millennium" | "century" | "decade":
            years = {"millennium": 1000, "century": 100, "decade": 10}[unit]
            return day_number(year // years * years, 1, 1)
        case "year":
            return day_number(year, 1, 1)
        case "weekyear":
            return day_of_week(week_of(day)[0], 1, 1)
        case "quarter":
            return day_number(year, (month - 1) // 3 * 3 + 1, 1)
        case "month":
            return day_number(year, month, 1)
        case "week":
            return day - weekday_of(day) + 1
        case "day":
            return day
        case _:
            return None


def _known(fields: Fields, known: frozenset[str], purpose: str) -> dict[str, object]:
    given: dict[str, object] = {key.lower(): value for key, value in fields.items()}
    unknown = given.keys() - known
    if unknown:
        raise Refusal(f"{purpose} has no field {min(unknown)}. It takes: {', '.join(sorted(known))}.")
    return given


def _source(given: Fields, names: tuple[str, ...]) -> Parts | None:
    for name in names:
        value = given.get(name)
        if value is not None:
            if not isinstance(value, date | Temporal):
                raise Refusal(f"The field {name} must be a moment, not {type_name(value)}.")
            return parts_of(value)
    return None


def _time_source(given: Fields, base: Parts | None) -> Parts:
    """What the time and the zone are taken from."""
    return base or _source(given, ("time", "datetime")) or Parts()


def _day(given: Fields, base: Parts | None) -> int:
    """The number of the day that lower-case fields name.

    Raises:
        Refusal: no year, or a field that is no integer.
        ValueError: there is no such day.
    """
    source = base or _source(given, ("date", "datetime"))
    start = None if source is None else source.day
    if start is None and "year" not in given:
        raise Refusal("A date made of fields needs a year.")
    old_year, old_month, old_day = (1, 1, 1) if start is None else date_of(start)
    year = _number(given, "year", old_year)
    if given.keys() & {"week", "dayofweek"}:
        old_week_year, old_week = (year, 1) if start is None else week_of(start)
        weekday = _number(given, "dayofweek", 1 if start is None else weekday_of(start))
        return day_of_week(_number(given, "year", old_week_year), _number(given, "week", old_week), weekday)
    if "ordinalday" in given:
        return day_of_year(year, _number(given, "ordinalday", 1))
    old_quarter = (old_month - 1) // 3 + 1
    if given.keys() & {"quarter", "dayofquarter"}:
        of_quarter = 1 if start is None else start - day_of_quarter(old_year, old_quarter, 1) + 1
        return day_of_quarter(year, _number(given, "quarter", old_quarter), _number(given, "dayofquarter", of_quarter))
    return day_number(year, _number(given, "month", old_month), _number(given, "day", old_day))


def _nanoseconds(given: Fields, source: Parts) -> int:
    """The nanoseconds of the day that lower-case fields name; what they do not name is that of ``source``.

    Raises:
        Refusal: a field that is no integer.
        ValueError: there is no such time.
    """
    old = source.nanoseconds or 0
    hour = _within(given, "hour", old // _HOUR, 23)
    minute = _within(given, "minute", old // _MINUTE % 60, 59)
    second = _within(given, "second", old // SECOND % 60, 59)
    fraction = _fraction(given) if given.keys() & _FRACTIONS else old % SECOND
    return hour * _HOUR + minute * _MINUTE + second * SECOND + fraction


def _fraction(given: Fields) -> int:
    """The nanoseconds of the second; each unit beside a coarser one is what goes beyond it."""
    most = 999_999_999
    total = 0
    for name, unit in (("millisecond", 1_000_000), ("microsecond", 1000), ("nanosecond", 1)):
        if name in given:
            total += _within(given, name, 0, most // unit) * unit
            most = unit - 1
    return total


def _within(given: Fields, key: str, default: int, most: int) -> int:
    value = _number(given, key, default)
    if not 0 <= value <= most:
        raise ValueError(f"{key} {value} is not in 0..{most}")
    return value


def _number(given: Fields, key: str, default: int) -> int:
    value = given.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Refusal(f"The field {key} must be INTEGER, not {type_name(value)}.")
    return value
