"""Durations: months, days and seconds kept apart, their ISO 8601 text, and arithmetic with dates and datetimes.

Used by cypher/values for order, by cypher/value_operators for arithmetic, by functions/temporal for making them. Weeks
become days; a month is turned into days only to compare two durations or to share out a fraction of one.
"""

import math
import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

_PART: Final = r"(?:([-+]?\d{{1,18}}(?:[.,]\d{{1,9}})?){unit})?"
_TEXT: Final = re.compile(
    r"([-+])?P"
    + "".join(_PART.format(unit=unit) for unit in "YMWD")
    + r"(?:T"
    + "".join(_PART.format(unit=unit) for unit in "HMS")
    + r")?",
    re.IGNORECASE,
)
_NANOSECONDS: Final = 1_000_000_000
_SECONDS_OF_MONTH: Final = 2_629_746  # a twelfth of the mean Gregorian year


@dataclass(frozen=True, slots=True)
class Duration:
    """``nanoseconds`` is 0 … 999,999,999; the other parts may be negative."""

    months: int = 0
    days: int = 0
    seconds: int = 0
    nanoseconds: int = 0

    def __str__(self) -> str:
        return duration_text(self)


def make_duration(months: int = 0, days: int = 0, seconds: int = 0, nanoseconds: int = 0) -> Duration:
    """A Duration from whole parts of any size; nanoseconds are carried over into seconds."""
    carried, rest = divmod(nanoseconds, _NANOSECONDS)
    return Duration(months, days, seconds + carried, rest)


def duration_of_parts(parts: dict[str, float]) -> Duration:
    """A Duration from amounts by unit (years … nanoseconds, plural names); fractions move into the next smaller unit.

    Raises:
        KeyError: a unit that does not exist; the argument is its name.
        OverflowError: an amount that is infinite or not a number.
    """
    if not all(math.isfinite(amount) for amount in parts.values()):
        raise OverflowError("an amount is not finite")
    known = {"years", "quarters", "months", "weeks", "days", "hours", "minutes", "seconds"}
    known |= {"milliseconds", "microseconds", "nanoseconds"}
    for unit in parts:
        if unit not in known:
            raise KeyError(unit)
    get = parts.get
    months, month_rest = _whole(get("years", 0) * 12 + get("quarters", 0) * 3 + get("months", 0))
    days, day_rest = _whole(get("weeks", 0) * 7 + get("days", 0) + month_rest * _SECONDS_OF_MONTH / 86_400)
    seconds, second_rest = _whole(get("hours", 0) * 3600 + get("minutes", 0) * 60 + get("seconds", 0))
    extra, extra_rest = _whole(day_rest * 86_400)
    nanoseconds = get("milliseconds", 0) * 1_000_000 + get("microseconds", 0) * 1000 + get("nanoseconds", 0)
    nanoseconds += (second_rest + extra_rest) * _NANOSECONDS
    return make_duration(months, days, seconds + extra, round(nanoseconds))


def parse_duration(text: str) -> Duration | None:
    """The duration written as ISO 8601 (``P1Y2M10DT2H30M``, ``P2W``, ``-P7D``), None where it is not one."""
    match = _TEXT.fullmatch(text.strip())
    if match is None or all(group is None for group in match.groups()[1:]) or text.rstrip().upper().endswith("T"):
        return None
    sign = -1 if match[1] == "-" else 1
    units = ("years", "months", "weeks", "days", "hours", "minutes", "seconds")
    parts: dict[str, float] = {}
    for unit, amount in zip(units, match.groups()[1:], strict=True):
        if amount is not None:
            plain = amount.replace(",", ".")
            parts[unit] = sign * (float(plain) if "." in plain else int(plain))
    return duration_of_parts(parts)


def duration_text(value: Duration) -> str:
    """ISO 8601 text: ``P1Y2M10DT2H30M1.5S``; ``PT0S`` for none."""
    years, months = _divide(value.months, 12)
    total = value.seconds * _NANOSECONDS + value.nanoseconds
    whole, fraction = _divide(total, _NANOSECONDS)
    hours, rest = _divide(whole, 3600)
    minutes, seconds = _divide(rest, 60)
    day_part = "".join(f"{amount}{unit}" for amount, unit in ((years, "Y"), (months, "M"), (value.days, "D")) if amount)
    time_part = "".join(f"{amount}{unit}" for amount, unit in ((hours, "H"), (minutes, "M")) if amount)
    if seconds or fraction:
        sign = "-" if total < 0 else ""
        digits = f".{abs(fraction):09d}".rstrip("0") if fraction else ""
        time_part += f"{sign}{abs(seconds)}{digits}S"
    if not day_part and not time_part:
        return "PT0S"
    return f"P{day_part}" + (f"T{time_part}" if time_part else "")


def average_nanoseconds(value: Duration) -> int:
    """The length with months of mean length: what durations are ordered by."""
    seconds = value.months * _SECONDS_OF_MONTH + value.days * 86_400 + value.seconds
    return seconds * _NANOSECONDS + value.nanoseconds


def add_durations(left: Duration, right: Duration, sign: int = 1) -> Duration:
    """``left + sign * right``, part by part."""
    return make_duration(
        left.months + sign * right.months,
        left.days + sign * right.days,
        left.seconds + sign * right.seconds,
        left.nanoseconds + sign * right.nanoseconds,
    )


def scale_duration(value: Duration, factor: float) -> Duration:
    """Every part times ``factor``; fractions move into the next smaller unit.

    Raises:
        OverflowError: the factor is infinite or not a number.
    """
    parts = {"months": value.months, "days": value.days, "seconds": value.seconds, "nanoseconds": value.nanoseconds}
    return duration_of_parts({unit: amount * factor for unit, amount in parts.items()})


def shift(moment: date, by: Duration, sign: int = 1) -> date:
    """``moment + sign * by`` of the same kind: months first (the day is cut to the month's end), then days, then time.

    A date without a time takes only the whole days of the time part.

    Raises:
        OverflowError: the year leaves 1 … 9999.
    """
    month_index = moment.year * 12 + moment.month - 1 + sign * by.months
    year, month = divmod(month_index, 12)
    if not 1 <= year <= 9999:
        raise OverflowError("the year is outside 1 … 9999")
    moved = moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))
    if isinstance(moved, datetime):
        return moved + sign * timedelta(days=by.days, seconds=by.seconds, microseconds=by.nanoseconds // 1000)
    whole_days, _ = _divide(by.seconds, 86_400)
    return moved + sign * timedelta(days=by.days + whole_days)


def _whole(amount: float) -> tuple[int, float]:
    """The part before the point and the rest, both with the sign of ``amount``."""
    whole = int(amount)
    return whole, amount - whole


def _divide(amount: int, unit: int) -> tuple[int, int]:
    """Quotient and remainder towards zero, both with the sign of ``amount``."""
    quotient, remainder = divmod(abs(amount), unit)
    return (quotient, remainder) if amount >= 0 else (-quotient, -remainder)
