"""Reading dates, times, datetimes and their zones as ISO 8601 writes them, whole or compact.

Used for text in queries by functions/temporal and for stored values by cypher/stored_values. Text that does not read
as the wanted type gives None: notes are full of such text, and a query over them must go on.
"""

import re
from datetime import date, datetime
from typing import Final

from vaultgraph.cypher.days import day_number, day_of_quarter, day_of_week, day_of_year
from vaultgraph.cypher.temporals import (
    FarDate,
    LocalDateTime,
    LocalTime,
    Parts,
    Time,
    ZonedDateTime,
    date_value,
    instant_of,
    local_value,
    zoned_at,
    zoned_in,
    zoned_value,
)
from vaultgraph.cypher.zones import SECOND, is_zone, offset_at, read_offset

_DAY: Final = re.compile(
    r"""(?P<year>\d{4}|[-+]\d{4,9})
    (?: -(?P<month>\d{2})(?:-(?P<day>\d{2}))? | (?P<month_>\d{2})(?P<day_>\d{2})?
      | -W(?P<week>\d{2})(?:-(?P<weekday>\d))? | W(?P<week_>\d{2})(?P<weekday_>\d)?
      | -Q(?P<quarter>\d)(?:-(?P<of_quarter>\d{1,2}))? | Q(?P<quarter_>\d)(?P<of_quarter_>\d{2})?
      | -?(?P<ordinal>\d{3}) )?""",
    re.ASCII | re.VERBOSE,
)
_TIME: Final = re.compile(
    r"""(?P<hour>\d{2})
    (?: :(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?
      | (?P<minute_>\d{2})(?:(?P<second_>\d{2})(?:[.,](?P<fraction_>\d{1,9}))?)? )?
    \ ?(?P<offset>[zZ]|[-+]\d{2}(?::?\d{2}(?::?\d{2})?)?)?
    (?:\[(?P<zone>[^\[\]]+)\])?""",
    re.ASCII | re.VERBOSE,
)


def read_date(text: str) -> date | FarDate | None:
    """The day; of a datetime the day that is written."""
    if len(text) == 10:  # nearly always YYYY-MM-DD
        try:
            return date.fromisoformat(text)
        except ValueError:
            pass
    parts = _read_dated(text)
    return None if parts is None or parts.day is None else date_value(parts.day)


def read_local_time(text: str) -> LocalTime | None:
    """The time of day; of a datetime, or one with a zone, the time that is written."""
    parts = _read_timed(text)
    return None if parts is None or parts.nanoseconds is None else LocalTime(parts.nanoseconds)


def read_time(text: str, today: int) -> Time | None:
    """The time with its offset, UTC where none is written; a named zone counts with its offset ``today``."""
    parts = _read_timed(text)
    if parts is None or parts.nanoseconds is None:
        return None
    offset = parts.offset
    if offset is None and parts.zone is not None:
        day = today if parts.day is None else parts.day
        offset = offset_at(parts.zone, instant_of(Parts(day, parts.nanoseconds)) // SECOND)
    return Time(parts.nanoseconds, offset or 0)


def read_local_datetime(text: str) -> datetime | LocalDateTime | None:
    """The datetime as it is written, without its zone; a day alone is its midnight."""
    parts = _read_dated(text)
    return None if parts is None or parts.day is None else local_value(parts.day, parts.nanoseconds or 0)


def read_datetime(text: str) -> datetime | ZonedDateTime | None:
    """The datetime in its zone, UTC where none is written; a day alone is its midnight.

    Of an offset and a zone that disagree the offset tells the instant, and the zone how it is shown.
    """
    parts = _read_dated(text)
    if parts is None or parts.day is None:
        return None
    nanoseconds = parts.nanoseconds or 0
    try:
        if parts.zone is None:
            return zoned_value(parts.day, nanoseconds, parts.offset or 0)
        if parts.offset is not None:
            return zoned_at(instant_of(parts), parts.zone)
        return zoned_in(parts.day, nanoseconds, parts.zone)
    except OverflowError:
        return None


def read_stored_datetime(text: str) -> ZonedDateTime | None:
    """A ZonedDateTime from its own text, exactly: the zone is not looked up, so no other zone data can change it."""
    day_text, _, time_text = text.partition("T")
    day, match = _read_day(day_text), _TIME.fullmatch(time_text)
    offset = None if match is None else read_offset(match["offset"] or "")
    nanoseconds = None if match is None else _nanoseconds(match)
    if day is None or match is None or offset is None or nanoseconds is None:
        return None
    return ZonedDateTime(day, nanoseconds, offset, match["zone"])


def _read_dated(text: str) -> Parts | None:
    """What a text says that starts with a day; an offset and a zone may both be given."""
    plain = text.strip()
    day_text, separator, time_text = plain.partition("T" if "T" in plain else " ")
    day = _read_day(day_text)
    if day is None:
        return None
    time = _read_time(time_text) if separator else Parts()
    return None if time is None else Parts(day, time.nanoseconds, time.offset, time.zone)


def _read_timed(text: str) -> Parts | None:
    """What a text says that is a time, or a datetime; ``2140`` is a time here."""
    time = _read_time(text.strip().removeprefix("T"))
    return _read_dated(text) if time is None else time


def _read_day(text: str) -> int | None:
    match = _DAY.fullmatch(text)
    if match is None:
        return None

    def number(name: str) -> int | None:
        found = match[name] or (match[f"{name}_"] if name != "ordinal" else None)
        return None if found is None else int(found)

    year = int(match["year"])
    try:
        if (week := number("week")) is not None:
            return day_of_week(year, week, _or_one(number("weekday")))
        if (quarter := number("quarter")) is not None:
            return day_of_quarter(year, quarter, _or_one(number("of_quarter")))
        if (ordinal := number("ordinal")) is not None:
            return day_of_year(year, ordinal)
        return day_number(year, _or_one(number("month")), _or_one(number("day")))
    except ValueError:
        return None


def _or_one(value: int | None) -> int:
    return 1 if value is None else value


def _read_time(text: str) -> Parts | None:
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    nanoseconds, zone = _nanoseconds(match), match["zone"]
    offset = None if match["offset"] is None else read_offset(match["offset"])
    if nanoseconds is None or (match["offset"] is not None and offset is None):
        return None
    if zone is not None and (named := read_offset(zone)) is not None:
        return Parts(None, nanoseconds, named if offset is None else offset)
    if zone is not None and not is_zone(zone):
        return None
    return Parts(None, nanoseconds, offset, zone)


def _nanoseconds(match: re.Match[str]) -> int | None:
    hour, minute, second = int(match["hour"]), _part(match, "minute"), _part(match, "second")
    if hour > 23 or minute > 59 or second > 59:
        return None
    fraction = (match["fraction"] or match["fraction_"] or "").ljust(9, "0")
    return (hour * 3600 + minute * 60 + second) * SECOND + int(fraction)


def _part(match: re.Match[str], name: str) -> int:
    return int(match[name] or match[f"{name}_"] or 0)
