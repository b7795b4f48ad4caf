"""Moments moved by durations, and durations between moments.

Used by cypher/value_operators for ``+`` and ``-``, by functions/temporal for ``duration.between`` and its kin. In a
zone, months and days are counted by its calendar and clocks, the rest by what really passes.
"""

from calendar import monthrange
from dataclasses import replace
from datetime import date, datetime, timedelta

from vaultgraph.cypher.days import add_months, date_of
from vaultgraph.cypher.durations import Duration, make_duration, total_nanoseconds
from vaultgraph.cypher.temporals import (
    LocalTime,
    Moment,
    Parts,
    Time,
    date_value,
    instant_of,
    local_value,
    parts_of,
    zoned_at,
    zoned_in,
)
from vaultgraph.cypher.zones import DAY


def shift(moment: Moment, by: Duration, sign: int = 1) -> Moment:
    """``moment + sign * by`` of the same kind: months first (the day is cut to the month's end), then days, then time.

    A date takes only the whole days of the time part, a time of day only the time part; it goes on after midnight.

    Raises:
        OverflowError: the year is out of range.
    """
    if isinstance(moment, date) and by.nanoseconds % 1000 == 0:
        try:
            return _shift_plain(moment, by, sign)
        except OverflowError:
            pass  # it leaves the years of Python's dates
    parts = parts_of(moment)
    time = sign * total_nanoseconds(by)
    if parts.day is None:
        nanoseconds = ((parts.nanoseconds or 0) + time) % DAY
        return LocalTime(nanoseconds) if parts.offset is None else Time(nanoseconds, parts.offset)
    day = add_months(parts.day, sign * by.months) + sign * by.days
    if parts.nanoseconds is None:
        return date_value(day + _towards_zero(time, DAY))
    if parts.offset is None:
        return local_value(*divmod(day * DAY + parts.nanoseconds + time, DAY))
    place = parts.offset if parts.zone is None else parts.zone
    moved = zoned_in(day, parts.nanoseconds, place, parts.offset)
    return zoned_at(instant_of(parts_of(moved)) + time, place) if time else moved


def _shift_plain(moment: date, by: Duration, sign: int) -> date:
    """`shift` of what Python's dates and datetimes (without a zone, or in UTC) can hold."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + sign * by.months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError("the year is outside 1 … 9999")
    moved = moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))
    if isinstance(moved, datetime):
        return moved + sign * timedelta(days=by.days, seconds=by.seconds, microseconds=by.nanoseconds // 1000)
    return moved + timedelta(days=sign * by.days + _towards_zero(sign * total_nanoseconds(by), DAY))


def between(start: Moment, end: Moment) -> Duration:
    """Months, then days, then time from ``start`` to ``end``; only time where either is a time of day.

    Where one side has no day, it is that of the other; where one has no zone, it is that of the other.
    """
    first, last, dated = _aligned(start, end)
    if not dated:
        return make_duration(nanoseconds=instant_of(last) - instant_of(first))
    months = _months(first, last)
    moved = replace(first, day=add_months(first.day or 0, months))
    days = _towards_zero(_wall(last) - _wall(moved), DAY)
    moved = _settled(replace(moved, day=(moved.day or 0) + days))
    return make_duration(months, days, nanoseconds=instant_of(last) - instant_of(moved))


def in_months(start: Moment, end: Moment) -> Duration:
    """Whole months from ``start`` to ``end``."""
    first, last, dated = _aligned(start, end)
    return Duration(months=_months(first, last)) if dated else Duration()


def in_days(start: Moment, end: Moment) -> Duration:
    """Whole days from ``start`` to ``end``."""
    if type(start) is date and type(end) is date:
        return Duration(days=end.toordinal() - start.toordinal())
    first, last, dated = _aligned(start, end)
    return Duration(days=_towards_zero(_wall(last) - _wall(first), DAY)) if dated else Duration()


def in_seconds(start: Moment, end: Moment) -> Duration:
    """The time that passes from ``start`` to ``end``."""
    first, last, _ = _aligned(start, end)
    return make_duration(nanoseconds=instant_of(last) - instant_of(first))


def _aligned(start: Moment, end: Moment) -> tuple[Parts, Parts, bool]:
    """Both with a day, a time and, where either has a zone, in the zone of the first; whether both had a day."""
    first, last = parts_of(start), parts_of(end)
    dated = first.day is not None and last.day is not None
    day = first.day if first.day is not None else (last.day or 0)
    first, last = _filled(first, day), _filled(last, day if last.day is None else last.day)
    if first.offset is None and last.offset is None:
        return first, last, dated
    if first.offset is None:
        first = _settled(replace(first, offset=last.offset, zone=last.zone))
    elif last.offset is None:
        last = _settled(replace(last, offset=first.offset, zone=first.zone))
    if first.offset != last.offset or first.zone != last.zone:
        last = _in_place(last, first.zone if first.zone is not None else (first.offset or 0))
    return first, last, dated


def _filled(parts: Parts, day: int) -> Parts:
    return Parts(day, parts.nanoseconds or 0, parts.offset, parts.zone)


def _settled(parts: Parts) -> Parts:
    """The same wall clock time with the offset that its zone has then; without a named zone as it is."""
    if parts.zone is None:
        return parts
    return parts_of(zoned_in(parts.day or 0, parts.nanoseconds or 0, parts.zone, parts.offset))


def _in_place(parts: Parts, place: int | str) -> Parts:
    return parts_of(zoned_at(instant_of(parts), place))


def _wall(parts: Parts) -> int:
    """Nanoseconds since 1970 as the clocks show them."""
    return (parts.day or 0) * DAY + (parts.nanoseconds or 0)


def _months(first: Parts, last: Parts) -> int:
    """Whole months from ``first`` towards ``last``, never past it."""
    first_year, first_month, _ = date_of(first.day or 0)
    last_year, last_month, _ = date_of(last.day or 0)
    months = (last_year - first_year) * 12 + last_month - first_month
    moved = add_months(first.day or 0, months) * DAY + (first.nanoseconds or 0)
    if _wall(last) >= _wall(first):
        return months - 1 if moved > _wall(last) else months
    return months + 1 if moved < _wall(last) else months


def _towards_zero(amount: int, unit: int) -> int:
    return amount // unit if amount >= 0 else -(-amount // unit)
