"""Making dates and datetimes: from text, from maps of fields, and cut down to a unit.

Used by functions/temporal. Datetimes with a zone are kept in UTC; text that does not read as a moment gives None, a map
that names no moment a Refusal.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from types import MappingProxyType
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from vaultgraph.cypher.values import Refusal, type_name

_SHORT_DATE: Final = re.compile(r"(\d{4})(?:-?(\d{2}))?", re.ASCII)
_DAY_OF_YEAR: Final = re.compile(r"(\d{4})-?(\d{3})", re.ASCII)
_WEEK: Final = re.compile(r"(\d{4})-?W(\d{2})(?:-?(\d))?", re.ASCII)
_NAMED_ZONE: Final = re.compile(r"\[([^\]]+)\]$")
_OFFSET: Final = re.compile(r"([-+])(\d{2}):?(\d{2})?", re.ASCII)
_DATE_FIELDS: Final = frozenset(
    {"date", "datetime", "year", "month", "day", "week", "dayofweek", "quarter", "dayofquarter", "ordinalday"}
)
_TIME_FIELDS: Final = frozenset({"hour", "minute", "second", "millisecond", "microsecond", "nanosecond", "timezone"})
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def parse_date(text: str) -> date | None:
    """The day written as ISO 8601: ``2026-01-15``, ``2026-01``, ``2026``, ``2026-W03-4``, ``2026-015``; of a datetime
    its day."""
    plain = text.strip()
    day = _parse_day(plain)
    if day is not None:
        return day
    moment = parse_moment(plain)
    return None if moment is None else moment.date()


def _parse_day(plain: str) -> date | None:
    try:
        if match := _WEEK.fullmatch(plain):
            return date.fromisocalendar(int(match[1]), int(match[2]), int(match[3] or 1))
        if match := _DAY_OF_YEAR.fullmatch(plain):
            found = date(int(match[1]), 1, 1) + timedelta(days=int(match[2]) - 1)
            return found if found.year == int(match[1]) else None
        if match := _SHORT_DATE.fullmatch(plain):
            return date(int(match[1]), int(match[2] or 1), 1)
        return date.fromisoformat(plain)
    except (ValueError, OverflowError):
        return None


def parse_moment(text: str) -> datetime | None:
    """The datetime written as ISO 8601, in its own zone or none; a day alone is its midnight."""
    plain = text.strip()
    zone: tzinfo | None = None
    if match := _NAMED_ZONE.search(plain):
        zone = _named_zone(match[1])
        plain = plain[: match.start()]
        if zone is None:
            return None
    day_part, separator, time_part = plain.partition("T" if "T" in plain else " ")
    day = _parse_day(day_part)
    if day is None or (separator and not time_part):
        return None
    try:
        moment = datetime.fromisoformat(f"{day.isoformat()}T{time_part or '00'}")
    except ValueError:
        return None
    return moment.replace(tzinfo=zone) if zone is not None and moment.tzinfo is None else moment


def to_utc(moment: datetime) -> datetime:
    """The moment in UTC; one without a zone is taken to be in UTC.

    Raises:
        Refusal: the year leaves 1 … 9999.
    """
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise Refusal("The datetime leaves the years 1 … 9999 in UTC.") from None


def midnight(day: date) -> datetime:
    """The start of a day, without a zone; a datetime is given back as it is."""
    return day if isinstance(day, datetime) else datetime(day.year, day.month, day.day)


def date_of_fields(fields: Mapping[str, object]) -> date:
    """The day of ``{year, month, day}``, of a week, quarter or day of the year, or of ``{date: other, …}``.

    Raises:
        Refusal: an unknown field, one that is not an integer, no year, or no such day.
    """
    given = {key.lower(): value for key, value in fields.items()}
    _refuse_unknown(given, _DATE_FIELDS, "date()")
    return _day(given)


def moment_of_fields(fields: Mapping[str, object]) -> datetime:
    """The datetime of date fields and ``{hour, minute, second, millisecond, microsecond, nanosecond, timezone}``, or of
    ``{epochSeconds}`` or ``{epochMillis}``; without a zone where no ``timezone`` is given.

    Raises:
        Refusal: an unknown field, one that is not an integer, no year, or no such moment.
    """
    given = {key.lower(): value for key, value in fields.items()}
    _refuse_unknown(given, _DATE_FIELDS | _TIME_FIELDS | {"epochseconds", "epochmillis"}, "datetime()")
    try:
        if "epochseconds" in given or "epochmillis" in given:
            seconds, millis = _number(given, "epochseconds", 0), _number(given, "epochmillis", 0)
            return _EPOCH + timedelta(seconds=seconds, milliseconds=millis)
        source = given.get("datetime")
        start = source if isinstance(source, datetime) else midnight(_day(given))
        day = _day(given)
        microsecond = _number(given, "millisecond", 0) * 1000 + _number(given, "microsecond", 0)
        microsecond += _number(given, "nanosecond", 0) // 1000
        has_fraction = given.keys() & {"millisecond", "microsecond", "nanosecond"}
        return datetime(
            day.year,
            day.month,
            day.day,
            _number(given, "hour", start.hour),
            _number(given, "minute", start.minute),
            _number(given, "second", start.second),
            microsecond if has_fraction else start.microsecond,
            tzinfo=zone_of(given["timezone"]) if "timezone" in given else start.tzinfo,
        )
    except (ValueError, OverflowError) as error:
        raise Refusal(f"These fields are no datetime: {error}.") from None


def zone_of(name: object) -> tzinfo:
    """The zone called ``Europe/Berlin``, ``+02:00`` or ``Z``.

    Raises:
        Refusal: there is none.
    """
    zone = _named_zone(name) if isinstance(name, str) else None
    if zone is None:
        raise Refusal(f"There is no time zone {name}. Write a name such as 'Europe/Berlin', an offset or 'Z'.")
    return zone


def truncated(moment: date, unit: str) -> date:
    """The start of the unit that ``moment`` is in, of the same kind.

    Raises:
        Refusal: an unknown unit, or one below a day of a date.
    """
    name = unit.lower()
    day = _truncated_day(moment.date() if isinstance(moment, datetime) else moment, name)
    if isinstance(moment, datetime):
        if day is not None:
            return datetime(day.year, day.month, day.day, tzinfo=moment.tzinfo)
        if name in _STEPS:
            return moment - (moment - moment.replace(hour=0, minute=0, second=0, microsecond=0)) % _STEPS[name]
    if day is None:
        units = "millennium, century, decade, year, weekYear, quarter, month, week, day"
        more = ", hour, minute, second, millisecond, microsecond" if isinstance(moment, datetime) else ""
        raise Refusal(f"{type_name(moment)} cannot be cut to '{unit}'. Units: {units}{more}.")
    return day


_STEPS: Final[Mapping[str, timedelta]] = MappingProxyType(
    {
        "hour": timedelta(hours=1),
        "minute": timedelta(minutes=1),
        "second": timedelta(seconds=1),
        "millisecond": timedelta(milliseconds=1),
        "microsecond": timedelta(microseconds=1),
    }
)


def _truncated_day(day: date, unit: str) -> date | None:
    match unit:
        case "millennium" | "century" | "decade":
            years = {"millennium": 1000, "century": 100, "decade": 10}[unit]
            return date(max(1, day.year // years * years), 1, 1)
        case "year":
            return date(day.year, 1, 1)
        case "weekyear":
            return date.fromisocalendar(day.isocalendar().year, 1, 1)
        case "quarter":
            return date(day.year, (day.month - 1) // 3 * 3 + 1, 1)
        case "month":
            return day.replace(day=1)
        case "week":
            return day - timedelta(days=day.weekday())
        case "day":
            return day
        case _:
            return None


def _day(given: Mapping[str, object]) -> date:
    """The day that lower-case fields name."""
    source = given.get("date", given.get("datetime"))
    start = source if isinstance(source, date) else None
    if start is None and "year" not in given:
        raise Refusal("A date made of fields needs a year.")
    year = _number(given, "year", start.year if start else 1)
    try:
        if given.keys() & {"week", "dayofweek"}:
            calendar = start.isocalendar() if start else None
            week_year = year if calendar is None or "year" in given else calendar.year
            weekday = _number(given, "dayofweek", calendar.weekday if calendar else 1)
            week = _number(given, "week", calendar.week if calendar else 1)
            return date.fromisocalendar(week_year, week, weekday)
        if "ordinalday" in given:
            return date(year, 1, 1) + timedelta(days=_number(given, "ordinalday", 1) - 1)
        if given.keys() & {"quarter", "dayofquarter"}:
            start_of = _truncated_day(start, "quarter") if start else None
            quarter = _number(given, "quarter", (start.month - 1) // 3 + 1 if start else 1)
            day_of = (_plain_day(start) - start_of).days + 1 if start and start_of else 1
            first = date(year, quarter * 3 - 2, 1)
            return first + timedelta(days=_number(given, "dayofquarter", day_of) - 1)
        month = _number(given, "month", start.month if start else 1)
        return date(year, month, _number(given, "day", start.day if start else 1))
    except (ValueError, OverflowError) as error:
        raise Refusal(f"These fields are no date: {error}.") from None


def _plain_day(value: date) -> date:
    return value.date() if isinstance(value, datetime) else value


def _number(given: Mapping[str, object], key: str, default: int) -> int:
    value = given.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Refusal(f"The field {key} must be INTEGER, not {type_name(value)}.")
    return value


def _refuse_unknown(given: Mapping[str, object], known: frozenset[str], purpose: str) -> None:
    unknown = given.keys() - known
    if unknown:
        raise Refusal(f"{purpose} has no field {min(unknown)}. It takes: {', '.join(sorted(known))}.")


def _named_zone(name: str) -> tzinfo | None:
    if name in ("Z", "z"):
        return UTC
    if match := _OFFSET.fullmatch(name):
        offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
        return timezone(-offset if match[1] == "-" else offset) if offset < timedelta(days=1) else None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
