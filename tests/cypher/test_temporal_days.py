"""The calendar as day numbers: as Python's calendar where that reaches, and beyond."""

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.cypher.days import (
    CYCLE_DAYS,
    add_months,
    date_of,
    day_number,
    day_of_quarter,
    day_of_week,
    day_of_year,
    week_of,
    weekday_of,
)

EPOCH = date(1970, 1, 1)


@settings(deadline=None)
@given(st.dates())
def test_numbers_dates_and_weeks_are_those_of_pythons_calendar(day: date) -> None:
    number = (day - EPOCH).days
    assert day_number(day.year, day.month, day.day) == number
    assert date_of(number) == (day.year, day.month, day.day)
    assert (*week_of(number), weekday_of(number)) == tuple(day.isocalendar())
    assert day_of_week(*day.isocalendar()) == number
    assert day_of_year(day.year, day.timetuple().tm_yday) == number


@settings(deadline=None)
@given(st.integers(-(10**11), 10**11))
def test_far_days_read_back_and_repeat_every_400_years(number: int) -> None:
    year, month, day = date_of(number)
    assert day_number(year, month, day) == number
    assert date_of(number + CYCLE_DAYS) == (year + 400, month, day)
    assert weekday_of(number + CYCLE_DAYS) == weekday_of(number)


def test_months_are_added_up_to_the_end_of_the_month() -> None:
    assert date_of(add_months(day_number(2024, 1, 31), 1)) == (2024, 2, 29)
    assert date_of(add_months(day_number(1, 1, 31), -13)) == (-1, 12, 31)
    with pytest.raises(OverflowError):
        add_months(day_number(999_999_999, 12, 1), 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: day_number(2023, 2, 29),
        lambda: day_number(2023, 13, 1),
        lambda: day_number(1_000_000_000, 1, 1),
        lambda: day_of_week(2023, 53, 1),
        lambda: day_of_week(2023, 1, 8),
        lambda: day_of_year(2023, 366),
        lambda: day_of_quarter(2023, 5, 1),
        lambda: day_of_quarter(2023, 1, 91),
    ],
)
def test_days_that_no_calendar_has_are_refused(make) -> None:
    with pytest.raises(ValueError, match="is not"):
        make()


def test_every_day_of_a_quarter_has_its_number() -> None:
    first = date(2024, 4, 1)
    for offset in range(91):
        assert day_of_quarter(2024, 2, offset + 1) == (first + timedelta(days=offset) - EPOCH).days
