"""The calendar as day numbers: days since 1970-01-01 in the proleptic Gregorian calendar, with years, weeks, quarters.

Read by whatever makes, cuts, moves or prints dates. Years go from -999,999,999 to 999,999,999, far beyond those of
Python's own dates; nothing here knows of times or zones.
"""

from typing import Final

MOST_YEAR: Final = 999_999_999
CYCLE_DAYS: Final = 146_097  # 400 years, after which the calendar repeats
CYCLE_YEARS: Final = 400
_BEFORE_EPOCH: Final = 719_468  # days from 0000-03-01 to 1970-01-01


def day_number(year: int, month: int, day: int) -> int:
    """The number of a day.

    Raises:
        ValueError: there is no such month or day, or the year is out of range.
    """
    if abs(year) > MOST_YEAR:
        raise ValueError(f"year {year} is not within ±{MOST_YEAR:,}")
    if not 1 <= month <= 12:
        raise ValueError(f"month {month} is not in 1..12")
    if not 1 <= day <= month_days(year, month):
        raise ValueError(f"day {day} is not in 1..{month_days(year, month)}")
    since_march = (month + 9) % 12
    cycle, of_cycle = divmod(year - (month <= 2), CYCLE_YEARS)
    of_year = (153 * since_march + 2) // 5 + day - 1
    return cycle * CYCLE_DAYS + of_cycle * 365 + of_cycle // 4 - of_cycle // 100 + of_year - _BEFORE_EPOCH


def date_of(number: int) -> tuple[int, int, int]:
    """Year, month and day of the month of a day number."""
    cycle, of_cycle = divmod(number + _BEFORE_EPOCH, CYCLE_DAYS)
    years = (of_cycle - of_cycle // 1460 + of_cycle // 36_524 - of_cycle // 146_096) // 365
    of_year = of_cycle - (365 * years + years // 4 - years // 100)
    since_march = (5 * of_year + 2) // 153
    month = since_march + 3 if since_march < 10 else since_march - 9
    return cycle * CYCLE_YEARS + years + (month <= 2), month, of_year - (153 * since_march + 2) // 5 + 1


def month_days(year: int, month: int) -> int:
    """How many days a month has."""
    if month == 2:
        return 29 if is_leap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def is_leap(year: int) -> bool:
    """Whether the year has a 29 February."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def weekday_of(number: int) -> int:
    """1 for Monday … 7 for Sunday."""
    return (number + 3) % 7 + 1


def week_of(number: int) -> tuple[int, int]:
    """The year that the ISO week belongs to, and its number in it."""
    thursday = number - weekday_of(number) + 4
    year, _, _ = date_of(thursday)
    return year, (thursday - day_number(year, 1, 1)) // 7 + 1


def day_of_week(week_year: int, week: int, weekday: int) -> int:
    """The number of a day of an ISO week.

    Raises:
        ValueError: the year has no such week, or the week no such day.
    """
    first = day_number(week_year, 1, 4)
    found = first - weekday_of(first) + 1 + (week - 1) * 7
    if not 1 <= week <= 53 or week_of(found)[0] != week_year:
        raise ValueError(f"week {week} is not in year {week_year}")
    if not 1 <= weekday <= 7:
        raise ValueError(f"dayOfWeek {weekday} is not in 1..7")
    return found + weekday - 1


def day_of_year(year: int, ordinal: int) -> int:
    """The number of the ``ordinal``-th day of a year.

    Raises:
        ValueError: the year has no such day.
    """
    most = 366 if is_leap(year) else 365
    if not 1 <= ordinal <= most:
        raise ValueError(f"ordinalDay {ordinal} is not in 1..{most}")
    return day_number(year, 1, 1) + ordinal - 1


def day_of_quarter(year: int, quarter: int, of_quarter: int) -> int:
    """The number of the ``of_quarter``-th day of a quarter.

    Raises:
        ValueError: there is no such quarter or day of it.
    """
    if not 1 <= quarter <= 4:
        raise ValueError(f"quarter {quarter} is not in 1..4")
    first = day_number(year, quarter * 3 - 2, 1)
    most = sum(month_days(year, month) for month in range(quarter * 3 - 2, quarter * 3 + 1))
    if not 1 <= of_quarter <= most:
        raise ValueError(f"dayOfQuarter {of_quarter} is not in 1..{most}")
    return first + of_quarter - 1


def add_months(number: int, months: int) -> int:
    """The day so many months on; the day of the month is cut to the length of its month.

    Raises:
        OverflowError: the year is out of range.
    """
    year, month, day = date_of(number)
    index = year * 12 + month - 1 + months
    year, month = index // 12, index % 12 + 1
    if abs(year) > MOST_YEAR:
        raise OverflowError("the year is out of range")
    return day_number(year, month, min(day, month_days(year, month)))
