"""Times, and dates and datetimes that Python's own types cannot hold; one view of all of them, and one way back.

Values stay Python's ``date`` and ``datetime`` (without a zone, or in UTC) wherever those hold them exactly, because
columns of those are typed. Nanoseconds, offsets, named zones and years outside 1 … 9999 take a class of this module.
`parts_of` opens any of them; the ``…_value`` functions make the plainest value that fits. Equal moments are equal and
hash alike, whatever class or zone they are in; Python's comparison operators work across the classes of one kind.
"""

from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from vaultgraph.cypher.days import MOST_YEAR, date_of, day_number
from vaultgraph.cypher.zones import DAY, SECOND, offset_at, offset_text, resolve
from vaultgraph.frozen import frozen

_ORDINAL: Final = date(1970, 1, 1).toordinal()
_LEAST: Final = 1 - _ORDINAL
_MOST: Final = date.max.toordinal() - _ORDINAL
_LEAST_EVER: Final = day_number(-MOST_YEAR, 1, 1)
_MOST_EVER: Final = day_number(MOST_YEAR, 12, 31)
_EPOCH: Final = datetime(1970, 1, 1)
_EPOCH_UTC: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class Temporal:
    """What the classes of this module share: equality, hash and order by kind and moment."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        theirs = moment_key(other)
        return NotImplemented if theirs is None else moment_key(self) == theirs

    def __hash__(self) -> int:
        match self:
            case ZonedDateTime():
                plain = zoned_value(*_moved(self, 0), 0)
            case FarDate():
                plain = date_value(self.day)
            case LocalDateTime():
                plain = local_value(self.day, self.nanoseconds)
            case _:
                plain = None
        return hash(moment_key(self)) if plain is None or isinstance(plain, Temporal) else hash(plain)

    def __lt__(self, other: object) -> bool:
        mine, theirs = _comparable(self, other)
        return NotImplemented if theirs is None else mine < theirs

    def __le__(self, other: object) -> bool:
        mine, theirs = _comparable(self, other)
        return NotImplemented if theirs is None else mine <= theirs

    def __gt__(self, other: object) -> bool:
        mine, theirs = _comparable(self, other)
        return NotImplemented if theirs is None else mine > theirs

    def __ge__(self, other: object) -> bool:
        mine, theirs = _comparable(self, other)
        return NotImplemented if theirs is None else mine >= theirs

    def __str__(self) -> str:
        return moment_text(self)


@frozen
class LocalTime(Temporal):
    """A time of day without a zone; ``nanoseconds`` since midnight."""

    nanoseconds: int


@frozen
class Time(Temporal):
    """A time of day with an offset; ``nanoseconds`` since midnight there, ``offset_seconds`` east of UTC."""

    nanoseconds: int
    offset_seconds: int


@frozen
class FarDate(Temporal):
    """A date outside the years 1 … 9999; ``day`` counts from 1970-01-01."""

    day: int


@frozen
class LocalDateTime(Temporal):
    """A datetime without a zone, with nanoseconds or in a far year; ``day`` since 1970-01-01, ``nanoseconds`` of it."""

    day: int
    nanoseconds: int


@frozen
class ZonedDateTime(Temporal):
    """A datetime at an offset or in a named zone, or in UTC with nanoseconds or in a far year.

    ``day`` (since 1970-01-01) and ``nanoseconds`` of it are what the clocks there show.
    """

    day: int
    nanoseconds: int
    offset_seconds: int
    zone: str | None = None


Moment = date | Temporal
"""A point in time of any type; ``date`` covers ``datetime``. Durations are none."""


@frozen
class Parts:
    """A moment taken apart: None for what its type does not have. ``zone`` comes with the ``offset`` it has there."""

    day: int | None = None
    nanoseconds: int | None = None
    offset: int | None = None
    zone: str | None = None


def is_moment(value: object) -> bool:
    """Whether ``value`` is a date, time or datetime."""
    return isinstance(value, date | Temporal)


def parts_of(value: Moment) -> Parts:
    """The parts of any moment."""
    match value:
        case datetime():
            return _parts_of_datetime(value)
        case date():
            return Parts(value.toordinal() - _ORDINAL)
        case LocalTime(nanoseconds):
            return Parts(None, nanoseconds)
        case Time(nanoseconds, offset):
            return Parts(None, nanoseconds, offset)
        case FarDate(day):
            return Parts(day)
        case LocalDateTime(day, nanoseconds):
            return Parts(day, nanoseconds)
        case ZonedDateTime(day, nanoseconds, offset, zone):
            return Parts(day, nanoseconds, offset, zone)
        case _:
            raise TypeError(f"no moment: {type(value).__name__}")


def _parts_of_datetime(value: datetime) -> Parts:
    offset = value.utcoffset()
    day = value.toordinal() - _ORDINAL
    seconds = value.hour * 3600 + value.minute * 60 + value.second
    nanoseconds = (seconds * 1_000_000 + value.microsecond) * 1000
    if offset is None:
        return Parts(day, nanoseconds)
    name = value.tzinfo.key if isinstance(value.tzinfo, ZoneInfo) else None
    if name == "UTC":  # so polars names the zone of its columns
        name = None
    return Parts(day, nanoseconds, offset.days * 86_400 + offset.seconds, name)


def date_value(day: int) -> date | FarDate:
    """The date of a day number.

    Raises:
        OverflowError: the year is out of range.
    """
    if _LEAST <= day <= _MOST:
        return date.fromordinal(day + _ORDINAL)
    return FarDate(_checked(day))


def local_value(day: int, nanoseconds: int) -> datetime | LocalDateTime:
    """The datetime without a zone of a day number and the nanoseconds of the day.

    Raises:
        OverflowError: the year is out of range.
    """
    if nanoseconds % 1000 or not _LEAST <= day <= _MOST:
        return LocalDateTime(_checked(day), nanoseconds)
    return _EPOCH + timedelta(days=day, microseconds=nanoseconds // 1000)


def zoned_value(day: int, nanoseconds: int, offset: int, zone: str | None = None) -> datetime | ZonedDateTime:
    """The datetime that the clocks show at an offset: Python's, in UTC, where that says the same.

    Raises:
        OverflowError: the year is out of range.
    """
    if offset or zone is not None or nanoseconds % 1000 or not _LEAST <= day <= _MOST:
        return ZonedDateTime(_checked(day), nanoseconds, offset, zone)
    return _EPOCH_UTC + timedelta(days=day, microseconds=nanoseconds // 1000)


def zoned_in(day: int, nanoseconds: int, place: int | str, preferred: int | None = None) -> datetime | ZonedDateTime:
    """The datetime that the clocks show at an offset or in a named zone (see `zones.resolve`).

    Raises:
        OverflowError: the year is out of range.
        ValueError: there is no such zone.
    """
    if isinstance(place, int):
        return zoned_value(day, nanoseconds, place)
    return zoned_value(*resolve(place, day, nanoseconds, preferred), place)


def zoned_at(instant: int, place: int | str) -> datetime | ZonedDateTime:
    """The datetime of an instant, in nanoseconds since 1970 in UTC, at an offset or in a named zone.

    Raises:
        OverflowError: the year is out of range.
        ValueError: there is no such zone.
    """
    zone = None if isinstance(place, int) else place
    offset = place if isinstance(place, int) else offset_at(place, instant // SECOND)
    return zoned_value(*divmod(instant + offset * SECOND, DAY), offset, zone)


def instant_of(parts: Parts) -> int:
    """Nanoseconds since 1970 in UTC of parts with a day; without a time midnight, without an offset UTC."""
    return (parts.day or 0) * DAY + (parts.nanoseconds or 0) - (parts.offset or 0) * SECOND


def utc_value(value: Moment) -> datetime | None:
    """Python's datetime in UTC for the same instant, None where it cannot hold it or ``value`` has no zone."""
    parts = parts_of(value)
    if parts.day is None or parts.offset is None:
        return None
    found = zoned_at(instant_of(parts), 0)
    return found if isinstance(found, datetime) else None


def moment_key(value: object) -> tuple[str, int] | None:
    """Kind and moment, equal for equal moments; None where ``value`` is no moment."""
    if not isinstance(value, date | Temporal):
        return None
    parts = parts_of(value)
    if parts.day is None:
        nanoseconds = parts.nanoseconds or 0
        return ("local time", nanoseconds) if parts.offset is None else ("time", nanoseconds - parts.offset * SECOND)
    if parts.nanoseconds is None:
        return "date", parts.day
    return "local datetime" if parts.offset is None else "datetime", instant_of(parts)


def moment_text(value: Moment) -> str:
    """ISO 8601 text: seconds only where there are any, as many digits of them as are needed, a zone in brackets."""
    if isinstance(value, date) and (plain := _plain_text(value)) is not None:
        return plain
    parts = parts_of(value)
    text = "" if parts.day is None else _day_text(parts.day)
    if parts.nanoseconds is not None:
        text += ("T" if text else "") + _time_text(parts.nanoseconds)
    if parts.offset is not None:
        text += offset_text(parts.offset)
    return text if parts.zone is None else f"{text}[{parts.zone}]"


def _plain_text(value: date) -> str | None:
    """The text of a date, or of a datetime without a zone or in UTC; None for one elsewhere."""
    if not isinstance(value, datetime):
        return value.isoformat()
    zone = value.tzinfo
    if zone is not None and zone is not UTC and not (isinstance(zone, ZoneInfo) and zone.key == "UTC"):
        return None
    has_seconds = value.second or value.microsecond
    text = value.replace(tzinfo=None).isoformat(timespec="auto" if has_seconds else "minutes")
    if value.microsecond:
        text = text.rstrip("0")
    return text if zone is None else f"{text}Z"


def _day_text(number: int) -> str:
    year, month, day = date_of(number)
    if 0 <= year <= 9999:
        return f"{year:04}-{month:02}-{day:02}"
    return f"{'-' if year < 0 else '+'}{abs(year):04}-{month:02}-{day:02}"


def _time_text(nanoseconds: int) -> str:
    seconds, fraction = divmod(nanoseconds, SECOND)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}"
    if seconds % 60 or fraction:
        text += f":{seconds % 60:02}"
    return f"{text}.{fraction:09}".rstrip("0") if fraction else text


def _checked(day: int) -> int:
    if not _LEAST_EVER <= day <= _MOST_EVER:
        raise OverflowError("the year is out of range")
    return day


def _moved(value: ZonedDateTime, offset: int) -> tuple[int, int]:
    """Day and nanoseconds that the clocks show at another offset."""
    return divmod(value.day * DAY + value.nanoseconds + (offset - value.offset_seconds) * SECOND, DAY)


def _comparable(left: Temporal, right: object) -> tuple[int, int | None]:
    mine, theirs = moment_key(left), moment_key(right)
    if mine is None or theirs is None or mine[0] != theirs[0]:
        return 0, None
    return mine[1], theirs[1]
