"""The fields of dates, times, datetimes and durations: ``d.year``, ``d.dayOfWeek``, ``t.offset``, ``p.hours``.

Read by cypher/value_operators for property access on a moment; execute/properties has the column form of the common
ones. Field names are matched in any case.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from vaultgraph.cypher.days import date_of, day_number, week_of, weekday_of
from vaultgraph.cypher.durations import Duration, total_nanoseconds
from vaultgraph.cypher.temporals import Moment, Parts, instant_of, parts_of
from vaultgraph.cypher.values import Refusal, type_name
from vaultgraph.cypher.zones import SECOND, offset_text


def component(value: Moment | Duration, name: str) -> object:
    """The field ``name`` of a moment or duration.

    Raises:
        Refusal: the type has no such field; the message lists those it has.
    """
    if isinstance(value, Duration):
        length = _DURATION.get(name.lower())
        if length is None:
            raise _unknown(value, name, _DURATION)
        return length(value)
    parts = parts_of(value)
    key = name.lower()
    families = _families(parts)
    for family in families:
        if key in family:
            return family[key](parts)
    raise _unknown(value, name, {key: None for family in families for key in family})


def _families(parts: Parts) -> list[Mapping[str, Callable[[Parts], object]]]:
    """The fields that a moment with these parts has."""
    found = [_DATE] if parts.day is not None else []
    if parts.nanoseconds is not None:
        found.append(_TIME)
    if parts.offset is not None:
        found += [_OFFSET] if parts.day is None else [_OFFSET, _EPOCH]
    return found


def _unknown(value: object, name: str, fields: Mapping[str, object]) -> Refusal:
    return Refusal(f"{type_name(value)} has no field {name}. It has: {', '.join(fields)}.")


def _day(parts: Parts) -> int:
    return parts.day or 0


def _year(parts: Parts) -> int:
    return date_of(_day(parts))[0]


def _month(parts: Parts) -> int:
    return date_of(_day(parts))[1]


def _day_of_year(parts: Parts) -> int:
    return _day(parts) - day_number(_year(parts), 1, 1) + 1


def _day_of_quarter(parts: Parts) -> int:
    year, month, _ = date_of(_day(parts))
    return _day(parts) - day_number(year, (month - 1) // 3 * 3 + 1, 1) + 1


def _time(unit: int, count: int) -> Callable[[Parts], int]:
    """The field of a time that counts ``unit`` nanoseconds, up to ``count``."""
    return lambda parts: (parts.nanoseconds or 0) // unit % count


def _zone(parts: Parts) -> str:
    return parts.zone or offset_text(parts.offset or 0)


def _towards_zero(amount: int, unit: int) -> int:
    return amount // unit if amount >= 0 else -(-amount // unit)


def _remainder(amount: int, unit: int) -> int:
    return amount - unit * _towards_zero(amount, unit)


_DATE: Final[Mapping[str, Callable[[Parts], object]]] = MappingProxyType(
    {
        "year": _year,
        "quarter": lambda parts: (_month(parts) - 1) // 3 + 1,
        "month": _month,
        "week": lambda parts: week_of(_day(parts))[1],
        "weekyear": lambda parts: week_of(_day(parts))[0],
        "day": lambda parts: date_of(_day(parts))[2],
        "dayofweek": lambda parts: weekday_of(_day(parts)),
        "weekday": lambda parts: weekday_of(_day(parts)),
        "dayofyear": _day_of_year,
        "ordinalday": _day_of_year,
        "dayofquarter": _day_of_quarter,
    }
)
_TIME: Final[Mapping[str, Callable[[Parts], object]]] = MappingProxyType(
    {
        "hour": _time(3600 * SECOND, 24),
        "minute": _time(60 * SECOND, 60),
        "second": _time(SECOND, 60),
        "millisecond": _time(1_000_000, 1000),
        "microsecond": _time(1000, 1_000_000),
        "nanosecond": _time(1, SECOND),
    }
)
_OFFSET: Final[Mapping[str, Callable[[Parts], object]]] = MappingProxyType(
    {
        "timezone": _zone,
        "offset": lambda parts: offset_text(parts.offset or 0),
        "offsetminutes": lambda parts: _towards_zero(parts.offset or 0, 60),
        "offsetseconds": lambda parts: parts.offset or 0,
    }
)
_EPOCH: Final[Mapping[str, Callable[[Parts], object]]] = MappingProxyType(
    {
        "epochseconds": lambda parts: instant_of(parts) // SECOND,
        "epochmillis": lambda parts: instant_of(parts) // 1_000_000,
    }
)
_DURATION: Final[Mapping[str, Callable[[Duration], object]]] = MappingProxyType(
    {
        "years": lambda value: _towards_zero(value.months, 12),
        "quarters": lambda value: _towards_zero(value.months, 3),
        "months": lambda value: value.months,
        "weeks": lambda value: _towards_zero(value.days, 7),
        "days": lambda value: value.days,
        "hours": lambda value: _towards_zero(value.seconds, 3600),
        "minutes": lambda value: _towards_zero(value.seconds, 60),
        "seconds": lambda value: value.seconds,
        "milliseconds": lambda value: total_nanoseconds(value) // 1_000_000,
        "microseconds": lambda value: total_nanoseconds(value) // 1000,
        "nanoseconds": total_nanoseconds,
        "quartersofyear": lambda value: _remainder(_towards_zero(value.months, 3), 4),
        "monthsofyear": lambda value: _remainder(value.months, 12),
        "monthsofquarter": lambda value: _remainder(value.months, 3),
        "daysofweek": lambda value: _remainder(value.days, 7),
        "minutesofhour": lambda value: _remainder(_towards_zero(value.seconds, 60), 60),
        "secondsofminute": lambda value: _remainder(value.seconds, 60),
        "millisecondsofsecond": lambda value: value.nanoseconds // 1_000_000,
        "microsecondsofsecond": lambda value: value.nanoseconds // 1000,
        "nanosecondsofsecond": lambda value: value.nanoseconds,
    }
)
