"""Functions that make, cut and measure moments and durations, and the clock of the query.

Every function that asks for the time gets the same one throughout a query (Context.now), but for those called
``realtime``. Making and cutting is the work of cypher/moments and cypher/temporal_text, arithmetic that of
cypher/time_arithmetic. Part of the table in functions/registry.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import Final

import polars as pl

from vaultgraph.cypher import moments, temporal_text, time_arithmetic
from vaultgraph.cypher.durations import Duration, duration_of_parts, parse_duration
from vaultgraph.cypher.execute.bindings import BoundColumn, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.fetch import LOCAL_DATETIME, UTC_DATETIME
from vaultgraph.cypher.execute.operand import Constant, Operand
from vaultgraph.cypher.functions.record import Function, Kernel, function
from vaultgraph.cypher.temporals import (
    LocalTime,
    Moment,
    Parts,
    Temporal,
    Time,
    date_value,
    instant_of,
    local_value,
    parts_of,
    zoned_at,
    zoned_in,
)
from vaultgraph.cypher.values import Refusal, is_map, is_number, type_name
from vaultgraph.cypher.zones import SECOND

_Make = Callable[..., Moment | None]

_MILLISECOND: Final = 1_000_000
_NAMES: Final[tuple[tuple[str, str], ...]] = (
    ("date", "DATE"),
    ("localtime", "LOCAL TIME"),
    ("time", "ZONED TIME"),
    ("localdatetime", "LOCAL DATETIME"),
    ("datetime", "ZONED DATETIME"),
)
_CLOCKS: Final = ("transaction", "statement", "realtime")


def _today(context: Context) -> int:
    return context.now.toordinal() - date(1970, 1, 1).toordinal()


def _of_parts(kind: str, parts: Parts) -> Moment | None:
    """The moment of one type that has what ``parts`` have; None where they lack its day or its time."""
    day, nanoseconds = parts.day, parts.nanoseconds or 0
    if kind in ("LOCAL TIME", "ZONED TIME"):
        if parts.nanoseconds is None:
            return None
        return LocalTime(nanoseconds) if kind == "LOCAL TIME" else Time(nanoseconds, parts.offset or 0)
    if day is None:
        return None
    if kind == "DATE":
        return date_value(day)
    if kind == "LOCAL DATETIME":
        return local_value(day, nanoseconds)
    place = parts.zone if parts.zone is not None else (parts.offset or 0)
    return zoned_in(day, nanoseconds, place, parts.offset)


def _of_text(kind: str, text: str, context: Context) -> Moment | None:
    match kind:
        case "DATE":
            return temporal_text.read_date(text)
        case "LOCAL TIME":
            return temporal_text.read_local_time(text)
        case "ZONED TIME":
            return temporal_text.read_time(text, _today(context))
        case "LOCAL DATETIME":
            return temporal_text.read_local_datetime(text)
        case _:
            return temporal_text.read_datetime(text)


def _of_fields(kind: str, fields: moments.Fields, context: Context, base: Parts | None = None) -> Moment:
    match kind:
        case "DATE":
            return moments.date_of_fields(fields, base)
        case "LOCAL TIME":
            return moments.local_time_of_fields(fields, base)
        case "ZONED TIME":
            return moments.time_of_fields(fields, _today(context), base)
        case "LOCAL DATETIME":
            return moments.local_datetime_of_fields(fields, base)
        case _:
            return moments.datetime_of_fields(fields, base)


def _now(kind: str, now: datetime, zone: object = None) -> Moment | None:
    """The time in ``zone``; without one zoned values are in UTC, the others as the clock on the wall shows them."""
    if zone is None:
        return _of_parts(kind, parts_of(now.astimezone(UTC) if kind.startswith("ZONED") else now))
    return _of_parts(kind, parts_of(zoned_at(instant_of(parts_of(now)), moments.place_of(zone))))


def _maker(kind: str) -> _Make:
    def make(context: Context, *given: object) -> Moment | None:
        if not given:
            return _now(kind, context.now)
        value = given[0]
        if isinstance(value, str):
            return _of_text(kind, value, context)
        if isinstance(value, date | Temporal):
            made = _of_parts(kind, parts_of(value))
            if made is None:
                raise Refusal(f"{type_name(value)} has no part that {kind} is made of.")
            return made
        return _of_fields(kind, value, context) if is_map(value) else None

    return make


def _clock(kind: str, name: str) -> _Make:
    def tell(context: Context, zone: object = None) -> Moment | None:
        return _now(kind, datetime.now().astimezone() if name == "realtime" else context.now, zone)

    return tell


def _cutter(kind: str) -> _Make:
    def cut(
        context: Context, unit: str, value: Moment | None = None, fields: moments.Fields | None = None
    ) -> Moment | None:
        now = context.now.astimezone(UTC) if kind.startswith("ZONED") else context.now.replace(tzinfo=None)
        parts = parts_of(now if value is None else value)
        if kind == "DATE":
            parts = Parts(parts.day)
        elif kind.endswith("DATETIME") and parts.nanoseconds is None:
            parts = Parts(parts.day, 0)
        if kind.startswith("LOCAL"):
            parts = Parts(parts.day, parts.nanoseconds)
        found = moments.truncated(parts, unit, kind)
        if not fields:
            made = _of_parts(kind, found)
            if made is None:
                raise Refusal(f"{type_name(value)} has no part that {kind} is made of.")
            return made
        given, base = moments.refined(fields, found, unit)
        return _of_fields(kind, given, context, base)

    return cut


def _from_epoch(seconds: int, nanoseconds: int) -> Moment:
    return _instant(seconds * SECOND + nanoseconds)


def _from_epoch_millis(milliseconds: int) -> Moment:
    return _instant(milliseconds * _MILLISECOND)


def _instant(nanoseconds: int) -> Moment:
    try:
        return zoned_at(nanoseconds, 0)
    except OverflowError:
        raise Refusal("The datetime leaves the years -999,999,999 … 999,999,999.") from None


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
        raise Refusal("duration() needs finite amounts of up to 18 digits.") from None
    except KeyError as unknown:
        raise Refusal(
            f"duration() has no unit {unknown.args[0]}. Units are plural: years, months, weeks, days, hours, …"
        ) from None


def _measure(work: Callable[[Moment, Moment], Duration]) -> Callable[[Moment, Moment], Duration]:
    def run(start: Moment, end: Moment) -> Duration:
        try:
            return work(start, end)
        except OverflowError:
            raise Refusal("A zone moves one of the two beyond the years -999,999,999 … 999,999,999.") from None

    return run


def _date_kernel(arguments: Sequence[Operand], _context: Context) -> BoundColumn | None:
    match arguments:
        case [ValueColumn(series)] if series.dtype == pl.Date:
            return ValueColumn(series)
        case [ValueColumn(series)] if isinstance(series.dtype, pl.Datetime):
            return ValueColumn(series.dt.date())
        case _:
            return None


_STEPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "year": "1y",
        "quarter": "1q",
        "month": "1mo",
        "week": "1w",
        "day": "1d",
        "hour": "1h",
        "minute": "1m",
        "second": "1s",
    }
)


def _cut_kernel(kind: str) -> Kernel | None:
    dtype = {"DATE": pl.Date(), "LOCAL DATETIME": LOCAL_DATETIME, "ZONED DATETIME": UTC_DATETIME}.get(kind)

    def cut(arguments: Sequence[Operand], _context: Context) -> BoundColumn | None:
        match arguments:
            case [Constant(str(unit)), ValueColumn(series)] if series.dtype == dtype and unit.lower() in _STEPS:
                step = _STEPS[unit.lower()]
                is_time = step in ("1h", "1m", "1s")
                return None if is_time and dtype == pl.Date else ValueColumn(series.dt.truncate(step))
            case _:
                return None

    return None if dtype is None else cut


def _making() -> list[Function]:
    made: list[Function] = []
    for name, kind in _NAMES:
        kernel = _date_kernel if name == "date" else None
        signature = f"{name}(value? :: STRING | MAP | TEMPORAL) :: {kind}"
        made.append(function(signature, _maker(kind), kernel, takes_context=True))
        signature = f"{name}.truncate(unit :: STRING, value? :: TEMPORAL, fields? :: MAP) :: {kind}"
        made.append(function(signature, _cutter(kind), _cut_kernel(kind), takes_context=True))
        for clock in _CLOCKS:
            signature = f"{name}.{clock}(timezone? :: STRING) :: {kind}"
            is_volatile = clock == "realtime"
            made.append(function(signature, _clock(kind, clock), takes_context=True, is_volatile=is_volatile))
    return made


def functions() -> tuple[Function, ...]:
    """The functions of this family."""
    measures: tuple[tuple[str, Callable[[Moment, Moment], Duration]], ...] = (
        ("between", time_arithmetic.between),
        ("inMonths", time_arithmetic.in_months),
        ("inDays", time_arithmetic.in_days),
        ("inSeconds", time_arithmetic.in_seconds),
    )
    return (
        *_making(),
        function(
            "datetime.fromepoch(seconds :: INTEGER, nanoseconds :: INTEGER) :: ZONED DATETIME",
            _from_epoch,
        ),
        function("datetime.fromepochmillis(milliseconds :: INTEGER) :: ZONED DATETIME", _from_epoch_millis),
        function("timestamp() :: INTEGER", _timestamp, takes_context=True),
        function("duration(value :: STRING | MAP | DURATION) :: DURATION", _duration),
        *(
            function(f"duration.{name}(from :: TEMPORAL, to :: TEMPORAL) :: DURATION", _measure(work))
            for name, work in measures
        ),
    )
