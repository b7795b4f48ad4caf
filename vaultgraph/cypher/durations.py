"""Durations: months, days and seconds kept apart, their ISO 8601 text, and arithmetic among themselves.

Used by cypher/values for order, by cypher/time_arithmetic with moments, by functions/temporal for making them. Weeks
become days; a month is turned into days only to compare two durations or to share out a fraction of one. Fractions are
exact until whole nanoseconds are left.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from vaultgraph.frozen import frozen

_PART: Final = r"(?:([-+]?\d{{1,18}}(?:[.,]\d{{1,9}})?){unit})?"
_TEXT: Final = re.compile(
    r"([-+])?P"
    + "".join(_PART.format(unit=unit) for unit in "YMWD")
    + r"(?:T"
    + "".join(_PART.format(unit=unit) for unit in "HMS")
    + r")?",
    re.ASCII | re.IGNORECASE,
)
_AS_DATE: Final = re.compile(
    r"P(\d{4})-?(\d{2})-?(\d{2})(?:T(\d{2}):?(\d{2}):?(\d{2})(?:[.,](\d{1,9}))?)?", re.ASCII | re.IGNORECASE
)
_NANOSECONDS: Final = 1_000_000_000
_SECONDS_OF_MONTH: Final = 2_629_746  # a twelfth of the mean Gregorian year
_MOST: Final = 10**18  # no part of a duration reaches it
_UNITS: Final[Mapping[str, tuple[str, int]]] = MappingProxyType(
    {
        "years": ("months", 12),
        "quarters": ("months", 3),
        "months": ("months", 1),
        "weeks": ("days", 7),
        "days": ("days", 1),
        "hours": ("seconds", 3600),
        "minutes": ("seconds", 60),
        "seconds": ("seconds", 1),
        "milliseconds": ("nanoseconds", 1_000_000),
        "microseconds": ("nanoseconds", 1000),
        "nanoseconds": ("nanoseconds", 1),
    }
)


@frozen
class Duration:
    """``nanoseconds`` is 0 … 999,999,999; the other parts may be negative."""

    months: int = 0
    days: int = 0
    seconds: int = 0
    nanoseconds: int = 0

    def __str__(self) -> str:
        return duration_text(self)


def make_duration(months: int = 0, days: int = 0, seconds: int = 0, nanoseconds: int = 0) -> Duration:
    """A Duration from whole parts; nanoseconds of any size are carried over into seconds.

    Raises:
        OverflowError: a part is beyond 18 digits.
    """
    carried, rest = divmod(nanoseconds, _NANOSECONDS)
    if max(abs(months), abs(days), abs(seconds + carried)) >= _MOST:
        raise OverflowError("a part is beyond 18 digits")
    return Duration(months, days, seconds + carried, rest)


def duration_of_parts(parts: Mapping[str, float | Fraction]) -> Duration:
    """A Duration from amounts by unit (years … nanoseconds, plural names); fractions move into the next smaller unit.

    Raises:
        KeyError: a unit that does not exist; the argument is its name.
        OverflowError: an amount that is infinite or not a number, or a part beyond 18 digits.
    """
    sums: dict[str, Fraction] = dict.fromkeys(("months", "days", "seconds", "nanoseconds"), Fraction(0))
    for unit, amount in parts.items():
        part, times = _UNITS[unit]
        sums[part] += _exact(amount) * times
    months, month_rest = _whole(sums["months"])
    days, day_rest = _whole(sums["days"] + month_rest * _SECONDS_OF_MONTH / 86_400)
    seconds, second_rest = _whole(sums["seconds"])
    extra, extra_rest = _whole(day_rest * 86_400)
    nanoseconds = round(sums["nanoseconds"] + (second_rest + extra_rest) * _NANOSECONDS)
    return make_duration(months, days, seconds + extra, nanoseconds)


def parse_duration(text: str) -> Duration | None:
    """The duration written as ISO 8601 (``P1Y2M10DT2H30M``, ``P2W``, ``-P7D``), None where it is not one."""
    plain = text.strip()
    if (dated := _AS_DATE.fullmatch(plain)) is not None:
        return _dated(dated)
    match = _TEXT.fullmatch(plain)
    if match is None or all(group is None for group in match.groups()[1:]) or plain.upper().endswith("T"):
        return None
    sign = -1 if match[1] == "-" else 1
    units = ("years", "months", "weeks", "days", "hours", "minutes", "seconds")
    amounts = zip(units, match.groups()[1:], strict=True)
    try:
        return duration_of_parts({unit: sign * _written(text) for unit, text in amounts if text is not None})
    except OverflowError:
        return None


def _written(amount: str) -> Fraction:
    return Fraction(Decimal(amount.replace(",", ".")))


def _dated(match: re.Match[str]) -> Duration | None:
    """The duration written like a datetime, ``P0001-02-10T02:30:00``."""
    year, month, day, hour, minute, second = (int(group or 0) for group in match.groups()[:6])
    if month > 12 or day > 31 or hour > 23 or minute > 59 or second > 59:
        return None
    fraction = int((match[7] or "").ljust(9, "0"))
    return Duration(year * 12 + month, day, hour * 3600 + minute * 60 + second, fraction)


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
    """``left + sign * right``, part by part.

    Raises:
        OverflowError: a part is beyond 18 digits.
    """
    return make_duration(
        left.months + sign * right.months,
        left.days + sign * right.days,
        left.seconds + sign * right.seconds,
        left.nanoseconds + sign * right.nanoseconds,
    )


def scale_duration(value: Duration, factor: float, divisor: float = 1) -> Duration:
    """Every part times ``factor`` and divided by ``divisor``; fractions move into the next smaller unit.

    Raises:
        OverflowError: a number is infinite or not a number, or a part is beyond 18 digits.
        ZeroDivisionError: the divisor is 0.
    """
    ratio = _exact(factor) / _exact(divisor)
    parts = {"months": value.months, "days": value.days, "seconds": value.seconds, "nanoseconds": value.nanoseconds}
    return duration_of_parts({unit: amount * ratio for unit, amount in parts.items()})


def total_nanoseconds(value: Duration) -> int:
    """The time part alone, without months and days."""
    return value.seconds * _NANOSECONDS + value.nanoseconds


def _exact(amount: float | Fraction) -> Fraction:
    """The number as it is written: 0.1 is a tenth.

    Raises:
        OverflowError: it is infinite or not a number.
    """
    if isinstance(amount, float):
        if amount != amount or amount in (float("inf"), float("-inf")):
            raise OverflowError("an amount is not finite")
        return Fraction(Decimal(repr(amount)))
    return Fraction(amount)


def _whole(amount: Fraction) -> tuple[int, Fraction]:
    """The part before the point and the rest, both with the sign of ``amount``."""
    whole = int(amount)
    return whole, amount - whole


def _divide(amount: int, unit: int) -> tuple[int, int]:
    """Quotient and remainder towards zero, both with the sign of ``amount``."""
    quotient, remainder = divmod(abs(amount), unit)
    return (quotient, remainder) if amount >= 0 else (-quotient, -remainder)
