"""Durations: text, parts, order and arithmetic with dates."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.cypher.days import MOST_YEAR, day_number
from vaultgraph.cypher.durations import (
    Duration,
    add_durations,
    average_nanoseconds,
    duration_of_parts,
    make_duration,
    parse_duration,
    scale_duration,
)
from vaultgraph.cypher.temporals import date_value
from vaultgraph.cypher.time_arithmetic import shift


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("P7D", Duration(days=7)),
        ("P2W", Duration(days=14)),
        ("P1Y2M10DT2H30M", Duration(14, 10, 9000)),
        ("PT0.5S", Duration(nanoseconds=500_000_000)),
        ("-P7D", Duration(days=-7)),
        ("P-1M", Duration(months=-1)),
        ("p1d", Duration(days=1)),
        ("P0.5D", Duration(seconds=43_200)),
    ],
)
def test_iso_text_is_read(text: str, expected: Duration) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize("text", ["", "P", "PT", "7D", "P7", "P1DT", "one week", "P1H"])
def test_what_is_no_duration_gives_none(text: str) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Duration(), "PT0S"),
        (Duration(days=7), "P7D"),
        (Duration(14, 10, 9000), "P1Y2M10DT2H30M"),
        (make_duration(nanoseconds=-500_000_000), "PT-0.5S"),
        (make_duration(seconds=-61, nanoseconds=-1_000_000), "PT-1M-1.001S"),
        (Duration(-13, -1), "P-1Y-1M-1D"),
    ],
)
def test_text_is_the_shortest_iso_form(value: Duration, text: str) -> None:
    assert str(value) == text


@settings(deadline=None)
@given(st.integers(-500, 500), st.integers(-500, 500), st.integers(-(10**6), 10**6), st.integers(0, 10**9 - 1))
def test_printed_durations_read_back_the_same(months: int, days: int, seconds: int, nanoseconds: int) -> None:
    value = Duration(months, days, seconds, nanoseconds // 1000 * 1000)
    read = parse_duration(str(value))
    assert read is not None
    assert (read.months, read.days) == (months, days)
    assert abs(average_nanoseconds(read) - average_nanoseconds(value)) < 1000


def test_fractions_of_parts_move_to_smaller_units() -> None:
    assert duration_of_parts({"days": 1.5}) == Duration(days=1, seconds=43_200)
    assert duration_of_parts({"hours": 1.5, "weeks": 1}) == Duration(days=7, seconds=5400)
    assert duration_of_parts({"milliseconds": 1500}) == Duration(seconds=1, nanoseconds=500_000_000)


def test_an_unknown_unit_is_named() -> None:
    with pytest.raises(KeyError, match="fortnights"):
        duration_of_parts({"fortnights": 1})


def test_shifting_by_months_stays_within_the_month() -> None:
    assert shift(date(2026, 1, 31), Duration(months=1)) == date(2026, 2, 28)
    assert shift(date(2024, 2, 29), Duration(months=12)) == date(2025, 2, 28)
    assert shift(date(2026, 3, 31), Duration(months=1), -1) == date(2026, 2, 28)


def test_shifting_a_date_takes_whole_days_of_the_time_part() -> None:
    assert shift(date(2026, 1, 15), Duration(days=1, seconds=90_000)) == date(2026, 1, 17)
    assert shift(date(2026, 1, 15), Duration(seconds=-3600)) == date(2026, 1, 15)


def test_shifting_a_datetime_keeps_its_zone() -> None:
    moment = datetime(2026, 1, 15, 23, 0, tzinfo=UTC)
    assert shift(moment, Duration(seconds=7200)) == datetime(2026, 1, 16, 1, 0, tzinfo=UTC)


def test_leaving_the_calendar_is_refused() -> None:
    with pytest.raises(OverflowError):
        shift(date_value(day_number(MOST_YEAR, 12, 31)), Duration(months=1))


def test_adding_and_scaling_work_part_by_part() -> None:
    assert add_durations(Duration(1, 2, 3), Duration(1, 1, 1), -1) == Duration(0, 1, 2)
    assert scale_duration(Duration(days=1), 2.5) == Duration(days=2, seconds=43_200)
    assert scale_duration(Duration(months=2, seconds=1), -1) == Duration(months=-2, seconds=-1)
