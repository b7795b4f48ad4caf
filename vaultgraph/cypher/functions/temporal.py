"""Functions of dates, datetimes and durations, and the clock of the query.

Every function that asks for the time gets the same one throughout a query (Context.now). Making and cutting moments is
cypher/moments' work, durations cypher/durations'. Part of the table in functions/registry.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

import polars as pl

from vaultgraph.cypher.durations import Duration, duration_of_parts, make_duration, parse_duration, shift
from vaultgraph.cypher.execute.bindings import BoundColumn, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.operand import Operand
from vaultgraph.cypher.functions.record import Function, function
from vaultgraph.cypher.moments import (
    date_of_fields,
    midnight,
    moment_of_fields,
    parse_date,
    parse_moment,
    to_utc,
    truncated,
)
from vaultgraph.cypher.values import Refusal, is_map, is_number, type_name

_MICROSECOND: Final = timedelta(microseconds=1)
_DAY: Final = timedelta(days=1)


def _local_now(context: Context) -> datetime:
    return context.now.replace(tzinfo=None)


def _date(context: Context, *given: object) -> date | None:
    if not given:
        return context.now.date()
    value = given[0]
    if isinstance(value, str):
        return parse_date(value)
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    return date_of_fields(value) if is_map(value) else None


def _moment(value: object) -> datetime | None:
    if isinstance(value, str):
        return parse_moment(value)
    if isinstance(value, date):
        return midnight(value)
    return moment_of_fields(value) if is_map(value) else None


def _datetime(context: Context, *given: object) -> datetime | None:
    moment = _moment(given[0]) if given else context.now
    return None if moment is None else to_utc(moment)


def _localdatetime(context: Context, *given: object) -> datetime | None:
    moment = _moment(given[0]) if given else context.now
    return None if moment is None else moment.replace(tzinfo=None)


def _timestamp(context: Context) -> int:
    """Milliseconds since 1970."""
    return (context.now - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def _duration(value: object) -> Duration:
    if isinstance(value, Duration):
        return value
    if isinstance(value, str):
        found = parse_duration(value)
        if found is None:
            raise Refusal(
                f"'{value}' is no duration. Write ISO 8601 such as 'P7D' or 'PT1H30M', or duration({{days: 7}})."
            )
        return found
    parts: dict[str, float] = {}
    for key, amount in value.items() if is_map(value) else ():
        if not is_number(amount):
            raise Refusal(f"duration() needs a number for {key}, not {type_name(amount)}.")
        parts[key.lower()] = amount
    try:
        return duration_of_parts(parts)
    except OverflowError:
        raise Refusal("duration() needs finite amounts.") from None
    except KeyError as unknown:
        raise Refusal(
            f"duration() has no unit {unknown.args[0]}. Units are plural: years, months, weeks, days, hours, …"
        ) from None


_Fields = dict[str, object]


def _truncate_date(context: Context, unit: str, value: date | None = None, fields: _Fields | None = None) -> date:
    day = context.now.date() if value is None else value
    cut = truncated(day.date() if isinstance(day, datetime) else day, unit)
    return date_of_fields({"date": cut, **fields}) if fields else cut


def _truncate_datetime(context: Context, unit: str, value: date | None = None, fields: _Fields | None = None) -> date:
    cut = truncated(to_utc(context.now if value is None else midnight(value)), unit)
    return to_utc(moment_of_fields({"datetime": cut, **fields})) if fields else cut


def _truncate_local(context: Context, unit: str, value: date | None = None, fields: _Fields | None = None) -> date:
    moment = _local_now(context) if value is None else midnight(value)
    cut = truncated(moment.replace(tzinfo=None), unit)
    return moment_of_fields({"datetime": cut, **fields}).replace(tzinfo=None) if fields else cut


def _comparable(start: date, end: date) -> tuple[datetime, datetime]:
    """Both as datetimes without a zone, in UTC where they have one."""
    return midnight(start).replace(tzinfo=None), midnight(end).replace(tzinfo=None)


def _months_between(start: datetime, end: datetime) -> int:
    """Whole months from ``start`` towards ``end``, never past it."""
    months = (end.year - start.year) * 12 + end.month - start.month
    moved = shift(start, Duration(months=months))
    if end >= start:
        return months - 1 if moved > end else months
    return months + 1 if moved < end else months


def _between(start: date, end: date) -> Duration:
    first, last = _comparable(start, end)
    months = _months_between(first, last)
    rest = last - midnight(shift(first, Duration(months=months)))
    days = rest // _DAY if rest >= timedelta(0) else -(-rest // _DAY)
    return make_duration(months, days, nanoseconds=(rest - days * _DAY) // _MICROSECOND * 1000)


def _in_months(start: date, end: date) -> Duration:
    return Duration(months=_months_between(*_comparable(start, end)))


def _in_days(start: date, end: date) -> Duration:
    first, last = _comparable(start, end)
    rest = last - first
    return Duration(days=rest // _DAY if rest >= timedelta(0) else -(-rest // _DAY))


def _in_seconds(start: date, end: date) -> Duration:
    first, last = _comparable(start, end)
    return make_duration(nanoseconds=(last - first) // _MICROSECOND * 1000)


def _date_kernel(arguments: Sequence[Operand], _context: Context) -> BoundColumn | None:
    match arguments:
        case [ValueColumn(series)] if series.dtype == pl.Date:
            return ValueColumn(series)
        case [ValueColumn(series)] if isinstance(series.dtype, pl.Datetime):
            return ValueColumn(series.dt.date())
        case _:
            return None


def functions() -> tuple[Function, ...]:
    """The functions of this family."""
    pairs: tuple[tuple[str, Callable[[date, date], Duration]], ...] = (
        ("between", _between),
        ("inMonths", _in_months),
        ("inDays", _in_days),
        ("inSeconds", _in_seconds),
    )
    cuts: tuple[tuple[str, str, Callable[..., date]], ...] = (
        ("date", "DATE", _truncate_date),
        ("datetime", "ZONED DATETIME", _truncate_datetime),
        ("localdatetime", "LOCAL DATETIME", _truncate_local),
    )
    moment = "value? :: STRING | MAP | DATE | DATETIME"
    return (
        function(f"date({moment}) :: DATE", _date, _date_kernel, takes_context=True),
        function(f"datetime({moment}) :: ZONED DATETIME", _datetime, takes_context=True),
        function(f"localdatetime({moment}) :: LOCAL DATETIME", _localdatetime, takes_context=True),
        function("timestamp() :: INTEGER", _timestamp, takes_context=True),
        function("duration(value :: STRING | MAP | DURATION) :: DURATION", _duration),
        *(
            function(
                f"{name}.truncate(unit :: STRING, value? :: DATE | DATETIME, fields? :: MAP) :: {kind}",
                work,
                takes_context=True,
            )
            for name, kind, work in cuts
        ),
        *(
            function(f"duration.{name}(from :: DATE | DATETIME, to :: DATE | DATETIME) :: DURATION", work)
            for name, work in pairs
        ),
    )
