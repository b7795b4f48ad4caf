"""Dates, times and datetimes as text: every ISO 8601 form in, one form out."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.cypher.days import MOST_YEAR, day_number
from vaultgraph.cypher.temporal_text import (
    read_date,
    read_datetime,
    read_local_datetime,
    read_local_time,
    read_stored_datetime,
    read_time,
)
from vaultgraph.cypher.temporals import (
    FarDate,
    LocalDateTime,
    LocalTime,
    Time,
    ZonedDateTime,
    date_value,
    local_value,
    moment_text,
    zoned_value,
)
from vaultgraph.cypher.zones import DAY, MOST_OFFSET, SECOND

DAYS = st.integers(day_number(-MOST_YEAR, 1, 2), day_number(MOST_YEAR, 12, 30)) | st.integers(-30_000, 30_000)
NANOSECONDS = st.integers(0, DAY - 1) | st.integers(0, 86_399).map(lambda second: second * SECOND)
OFFSETS = st.integers(-MOST_OFFSET, MOST_OFFSET) | st.sampled_from([0, 3600, -19_800])


@pytest.mark.parametrize(
    "text",
    ["2015-07-21", "20150721", "2015-W30-2", "2015W302", "2015-202", "2015202", "2015-Q3-21", "2015Q321"],
)
def test_a_day_is_read_in_every_form(text: str) -> None:
    assert read_date(text) == date(2015, 7, 21)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2015", date(2015, 1, 1)),
        ("2015-07", date(2015, 7, 1)),
        ("201507", date(2015, 7, 1)),
        ("2015-W30", date(2015, 7, 20)),
        ("2015-Q3", date(2015, 7, 1)),
        ("+2015-07-21", date(2015, 7, 21)),
        ("+999999999-12-31", FarDate(day_number(999_999_999, 12, 31))),
        ("-0001-02-03", FarDate(day_number(-1, 2, 3))),
        ("2015-07-21T21:40+02:00", date(2015, 7, 21)),
        ("  2015-07-21 ", date(2015, 7, 21)),
    ],
)
def test_days_are_read_whole_or_in_part(text: str, expected: object) -> None:
    assert read_date(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "soon", "2015-13-01", "2015-02-29", "2015-W54", "2015-000", "2015-7-1", "15-07-21", "2015-07-21T", "٢٠١٥",
        "2015-07-21T25:00", "2015-07-21X10:00", "10000-01-01", "+1000000000-01-01", "2015-W30-0", "2015-Q5", "1" * 500,
    ],
)  # fmt: skip
def test_what_is_no_day_gives_none(text: str) -> None:
    assert read_date(text) is None
    assert read_datetime(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("21:40:32.142", "21:40:32.142"),
        ("214032.142", "21:40:32.142"),
        ("21:40:32,5", "21:40:32.5"),
        ("21:40", "21:40"),
        ("2140", "21:40"),
        ("21", "21:00"),
        ("T21", "21:00"),
        ("00:00:00.000000001", "00:00:00.000000001"),
        ("2015-07-21T21:40", "21:40"),
        ("21:40+01:00", "21:40"),
    ],
)
def test_times_of_day_are_read(text: str, expected: str) -> None:
    assert str(read_local_time(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("21:40:32.142+0100", "21:40:32.142+01:00"),
        ("2140-00:00", "21:40Z"),
        ("2140-02", "21:40-02:00"),
        ("22+18:00", "22:00+18:00"),
        ("22:00+01:02:03", "22:00+01:02:03"),
        ("2015", "20:15Z"),
        ("12:00[Pacific/Honolulu]", "12:00-10:00"),
    ],
)
def test_times_with_an_offset_are_read(text: str, expected: str) -> None:
    assert str(read_time(text, today=0)) == expected


@pytest.mark.parametrize("text", ["", "24:00", "21:60", "21:4", "21:40:3", "21:40+19:00", "21:40[Mars/Base]", "noon"])
def test_what_is_no_time_gives_none(text: str) -> None:
    assert read_time(text, today=0) is None
    assert read_local_time(text) is None or "+" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2015-W30-2T214032.142Z", "2015-07-21T21:40:32.142Z"),
        ("2015T214032-0100", "2015-01-01T21:40:32-01:00"),
        ("2015-07-21 21:40", "2015-07-21T21:40Z"),
        ("2015-07-21", "2015-07-21T00:00Z"),
        ("2015-07-21T21:40[Europe/Stockholm]", "2015-07-21T21:40+02:00[Europe/Stockholm]"),
        ("2015-07-21T21:40+02:00[Europe/Stockholm]", "2015-07-21T21:40+02:00[Europe/Stockholm]"),
        ("2015-07-21T21:40Z[Europe/Stockholm]", "2015-07-21T23:40+02:00[Europe/Stockholm]"),
        ("2015-07-21T21:40[UTC]", "2015-07-21T21:40Z"),
        ("2015-07-21T21:40[+03:00]", "2015-07-21T21:40+03:00"),
        ("1818-07-21T21:40:32.142-04:56:02", "1818-07-21T21:40:32.142-04:56:02"),
    ],
)
def test_datetimes_are_read_with_their_zone(text: str, expected: str) -> None:
    moment = read_datetime(text)
    assert moment is not None
    assert moment_text(moment) == expected


def test_what_python_holds_exactly_stays_pythons() -> None:
    assert type(read_datetime("2015-07-21T21:40:32.142Z")) is datetime
    assert read_datetime("2015-07-21T21:40:32.142Z") == datetime(2015, 7, 21, 21, 40, 32, 142_000, UTC)
    assert type(read_local_datetime("2015-07-21T21:40")) is datetime
    assert type(read_datetime("2015-07-21T21:40:32.142000001Z")) is ZonedDateTime
    assert type(read_local_datetime("2015-07-21T21:40:32.142000001")) is LocalDateTime
    assert type(read_datetime("2015-07-21T21:40+01:00")) is ZonedDateTime
    assert type(read_local_datetime("+12015-07-21T21:40")) is LocalDateTime


@settings(deadline=None)
@given(DAYS, NANOSECONDS, OFFSETS)
def test_printed_moments_read_back_the_same(day: int, nanoseconds: int, offset: int) -> None:
    assert read_date(moment_text(date_value(day))) == date_value(day)
    assert read_local_time(str(LocalTime(nanoseconds))) == LocalTime(nanoseconds)
    assert read_time(str(Time(nanoseconds, offset)), today=0) == Time(nanoseconds, offset)
    local = local_value(day, nanoseconds)
    assert (found := read_local_datetime(moment_text(local))) == local
    assert type(found) is type(local)
    zoned = zoned_value(day, nanoseconds, offset)
    assert (found := read_datetime(moment_text(zoned))) == zoned
    assert moment_text(found) == moment_text(zoned)
    stored = read_stored_datetime(moment_text(ZonedDateTime(day, nanoseconds, offset, "No/Such_Zone")))
    assert (stored.day, stored.nanoseconds, stored.offset_seconds, stored.zone) == (
        day,
        nanoseconds,
        offset,
        "No/Such_Zone",
    )


@settings(deadline=None)
@given(st.text("0123456789-:T+ZWQ.[]/aE ", max_size=24))
def test_any_text_is_read_or_gives_none(text: str) -> None:
    for read in (read_date, read_local_time, read_local_datetime, read_datetime, read_stored_datetime):
        read(text)
    read_time(text, today=0)
