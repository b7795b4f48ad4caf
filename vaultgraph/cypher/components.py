"""The fields of dates, datetimes and durations: ``d.year``, ``d.dayOfWeek``, ``p.hours``.

Read by cypher/value_operators for property access on a moment; execute/properties has the column form of the common
ones. Field names are matched in any case.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import Final

from vaultgraph.cypher.durations import Duration
from vaultgraph.cypher.values import Refusal, type_name

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def component(value: date | Duration, name: str) -> object:
    """The field ``name`` of a date, datetime or duration.

    Raises:
        Refusal: the type has no such field; the message lists those it has.
    """
    fields: dict[str, Callable[..., object]] = dict(_DURATION if isinstance(value, Duration) else _DATE)
    if isinstance(value, datetime):
        fields |= _TIME
        if value.tzinfo is not None:
            fields |= _ZONED
    found = fields.get(name.lower())
    if found is None:
        raise Refusal(f"{type_name(value)} has no field {name}. It has: {', '.join(fields)}.")
    return found(value)


def _quarter_start(value: date) -> date:
    return date(value.year, (value.month - 1) // 3 * 3 + 1, 1)


def _plain_date(value: date) -> date:
    return value.date() if isinstance(value, datetime) else value


def _since_epoch(value: datetime) -> timedelta:
    return value - _EPOCH


def _total_nanoseconds(value: Duration) -> int:
    return value.seconds * 1_000_000_000 + value.nanoseconds


def _towards_zero(amount: int, unit: int) -> int:
    return amount // unit if amount >= 0 else -(-amount // unit)


def _remainder(amount: int, unit: int) -> int:
    return amount - unit * _towards_zero(amount, unit)


_DATE: Final[Mapping[str, Callable[[date], object]]] = MappingProxyType(
    {
        "year": lambda value: value.year,
        "quarter": lambda value: (value.month - 1) // 3 + 1,
        "month": lambda value: value.month,
        "week": lambda value: value.isocalendar().week,
        "weekyear": lambda value: value.isocalendar().year,
        "day": lambda value: value.day,
        "dayofweek": lambda value: value.isoweekday(),
        "weekday": lambda value: value.isoweekday(),
        "dayofyear": lambda value: value.timetuple().tm_yday,
        "ordinalday": lambda value: value.timetuple().tm_yday,
        "dayofquarter": lambda value: (_plain_date(value) - _quarter_start(value)).days + 1,
    }
)
_TIME: Final[Mapping[str, Callable[[datetime], object]]] = MappingProxyType(
    {
        "hour": lambda value: value.hour,
        "minute": lambda value: value.minute,
        "second": lambda value: value.second,
        "millisecond": lambda value: value.microsecond // 1000,
        "microsecond": lambda value: value.microsecond,
        "nanosecond": lambda value: value.microsecond * 1000,
    }
)
_ZONED: Final[Mapping[str, Callable[[datetime], object]]] = MappingProxyType(
    {
        "timezone": lambda _: "Z",
        "offset": lambda _: "Z",
        "offsetminutes": lambda _: 0,
        "offsetseconds": lambda _: 0,
        "epochseconds": lambda value: _since_epoch(value) // timedelta(seconds=1),
        "epochmillis": lambda value: _since_epoch(value) // timedelta(milliseconds=1),
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
        "milliseconds": lambda value: _total_nanoseconds(value) // 1_000_000,
        "microseconds": lambda value: _total_nanoseconds(value) // 1000,
        "nanoseconds": _total_nanoseconds,
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
