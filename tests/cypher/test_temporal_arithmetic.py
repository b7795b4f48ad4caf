"""Moments plus durations, durations between moments, and durations times numbers."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.cypher.durations import Duration, make_duration
from vaultgraph.cypher.temporals import LocalTime, Time, ZonedDateTime
from vaultgraph.cypher.time_arithmetic import between, in_seconds, shift
from vaultgraph.cypher.zones import DAY, SECOND
from vaultgraph.errors import EvaluationError

Ask = Callable[..., Any]
LONG = "duration({years: 12.5, months: 5.5, days: 14.5, hours: 16.5, minutes: 12.5, seconds: 70.5, nanoseconds: 3})"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (f"date('1984-10-11') + {LONG}", "1997-10-11"),
        (f"localtime('12:31:14.000000001') + {LONG}", "22:29:27.500000004"),
        (f"time('12:31:14.000000001+01:00') - {LONG}", "02:33:00.499999998+01:00"),
        (f"localdatetime('1984-10-11T12:31:14.000000001') - {LONG}", "1971-10-12T02:33:00.499999998"),
        (f"datetime('1984-10-11T12:31:14.000000001+01:00') + {LONG}", "1997-10-11T22:29:27.500000004+01:00"),
        ("localdatetime('2024-01-01T00:00') + duration({nanoseconds: 1})", "2024-01-01T00:00:00.000000001"),
        ("localdatetime('2024-01-01T00:00:00.000000001') - duration({nanoseconds: 1})", "2024-01-01T00:00"),
        ("date('9999-12-31') + duration('P1D')", "+10000-01-01"),
        ("date('+10000-01-01') - duration('P1D')", "9999-12-31"),
        ("localtime('23:30') + duration('PT1H')", "00:30"),
        ("datetime('2024-03-30T02:30[Europe/Berlin]') + duration('P1D')", "2024-03-31T03:30+02:00[Europe/Berlin]"),
        ("datetime('2024-03-30T02:30[Europe/Berlin]') + duration('PT24H')", "2024-03-31T03:30+02:00[Europe/Berlin]"),
        ("datetime('2024-03-30T12:00[Europe/Berlin]') + duration('P1D')", "2024-03-31T12:00+02:00[Europe/Berlin]"),
        ("datetime('2024-03-30T12:00[Europe/Berlin]') + duration('PT24H')", "2024-03-31T13:00+02:00[Europe/Berlin]"),
        ("duration('P1M') + localtime('10:00')", "10:00"),
        ("duration('P12Y5M14DT16H13M10.000000001S') / 2", "P6Y2M22DT13H21M8S"),
        ("duration('P49M') / 49", "P1M"),
        ("duration('PT0.1S') * 3", "PT0.3S"),
        ("duration('P2012-02-02T14:37:21.545')", "P2012Y2M2DT14H37M21.545S"),
        ("duration('PT0.000000001S')", "PT0.000000001S"),
        ("duration({milliseconds: 1.5, microseconds: -1})", "PT0.001499S"),
    ],
)
def test_sums_products_and_quotients(ask: Ask, expression: str, expected: str) -> None:
    assert ask(f"toString({expression})") == expected


@pytest.mark.parametrize(
    ("function", "start", "end", "expected"),
    [
        ("between", "date('1984-10-11')", "localdatetime('2016-07-21T21:45:22.142')", "P31Y9M10DT21H45M22.142S"),
        ("between", "date('1984-10-11')", "time('16:30+0100')", "PT16H30M"),
        ("between", "localtime('14:30')", "date('2015-06-24')", "PT-14H-30M"),
        ("between", "time('14:30')", "time('16:30+0100')", "PT1H"),
        ("between", "localtime('14:30')", "time('16:30+0100')", "PT2H"),
        ("between", "datetime('2014-07-21T21:40:36.143+0200')", "datetime('2015-07-21T21:40:32.142+0100')",
         "P1YT59M55.999S"),
        ("between", "localdatetime('2018-01-02T10:00:00.1')", "localdatetime('2018-01-01T10:00:00.2')",
         "PT-23H-59M-59.9S"),
        ("between", "datetime('2017-10-28T23:00[Europe/Stockholm]')", "datetime('2017-10-29T04:00[Europe/Stockholm]')",
         "PT6H"),
        ("between", "date('-999999999-01-01')", "date('+999999999-12-31')", "P1999999998Y11M30D"),
        ("inMonths", "datetime('2018-07-21T21:40:36.143+0500')", "datetime('1984-07-21T22:40:36.143+0200')",
         "P-33Y-11M"),
        ("inMonths", "date('1984-10-11')", "localtime('16:30')", "PT0S"),
        ("inDays", "localdatetime('2015-07-21T21:40:32.142')", "date('2015-06-24')", "P-27D"),
        ("inSeconds", "date('2017-10-29')", "datetime('2017-10-29T04:00[Europe/Stockholm]')", "PT5H"),
        ("inSeconds", "datetime('2017-10-29T00:00[Europe/Stockholm]')", "date('2017-10-30')", "PT25H"),
        ("inSeconds", "localdatetime('2014-07-21T21:40:36.143')", "localdatetime('2014-07-21T21:40:36.142')",
         "PT-0.001S"),
        ("inSeconds", "localdatetime('-999999999-01-01')", "localdatetime('+999999999-12-31T23:59:59')",
         "PT17531639991215H59M59S"),
    ],
)  # fmt: skip
def test_durations_between_moments(ask: Ask, function: str, start: str, end: str, expected: str) -> None:
    assert str(ask(f"duration.{function}({start}, {end})")) == expected


@pytest.mark.parametrize(
    ("expression", "word"),
    [
        ("date('2024-01-01') - date('2023-01-01')", "duration.between"),
        ("time('10:00') - localtime('09:00')", "duration.between"),
        ("time('10:00') + 1", "ZONED TIME and INTEGER"),
        ("date('+999999999-12-31') + duration('P1D')", "999,999,999"),
        ("reduce(d = duration('P1D'), x IN range(1, 100) | d * 10)", "18 digits"),
        ("reduce(d = duration('P1D'), x IN range(1, 100) | d + d)", "18 digits"),
        ("duration('P1D') * (0.0 / 0.0)", "finite"),
        ("duration('P1D') / 0", "DURATION and INTEGER"),
    ],
)
def test_what_cannot_be_calculated_says_why(ask: Ask, expression: str, word: str) -> None:
    with pytest.raises(EvaluationError, match=word):
        ask(expression)


TIMES = st.integers(0, DAY - 1)
DURATIONS = st.builds(make_duration, st.integers(-40, 40), st.integers(-400, 400), st.integers(-(10**6), 10**6), TIMES)


@settings(deadline=None)
@given(st.datetimes(datetime(1000, 1, 1), datetime(3000, 1, 1)), DURATIONS, st.sampled_from([1, -1]))
def test_every_class_of_a_moment_moves_alike(moment: datetime, by: Duration, sign: int) -> None:
    whole = make_duration(by.months, by.days, by.seconds, by.nanoseconds // 1000 * 1000)
    plain = shift(moment, whole, sign)
    since = moment - datetime(1970, 1, 1)
    nanoseconds = (since.seconds * 1_000_000 + since.microseconds) * 1000
    zoned = shift(ZonedDateTime(since.days, nanoseconds, 3600), whole, sign)
    assert isinstance(plain, datetime)
    assert isinstance(zoned, ZonedDateTime)
    after = plain - datetime(1970, 1, 1)
    assert (zoned.day, zoned.nanoseconds) == (after.days, (after.seconds * 1_000_000 + after.microseconds) * 1000)


@settings(deadline=None)
@given(TIMES, TIMES, st.integers(-18, 18), st.integers(-18, 18))
def test_what_passes_between_two_times_leads_from_one_to_the_other(one: int, other: int, here: int, there: int) -> None:
    start, end = Time(one, here * 3600), Time(other, there * 3600)
    moved = shift(start, in_seconds(start, end))
    assert isinstance(moved, Time)
    assert (moved.nanoseconds - moved.offset_seconds * SECOND) % DAY == (other - there * 3600 * SECOND) % DAY
    assert shift(LocalTime(one), between(LocalTime(one), LocalTime(other))) == LocalTime(other)


@settings(deadline=None)
@given(st.dates(), st.dates())
def test_what_lies_between_two_days_leads_from_one_to_the_other(start: date, end: date) -> None:
    assert shift(start, between(start, end)) == end
