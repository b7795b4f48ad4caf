"""Moments made of maps and of other moments, and the fields they have."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from vaultgraph.errors import EvaluationError

Ask = Callable[..., Any]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("date({year: 1984, quarter: 3, dayOfQuarter: 45})", "1984-08-14"),
        ("date({year: 1817, week: 1, dayOfWeek: 2})", "1816-12-31"),
        ("date({date: date('1816-12-31'), week: 2})", "1817-01-07"),
        ("date({date: date('1984-11-11'), year: 28})", "0028-11-11"),
        ("date({date: localdatetime('1984-11-11T12:00'), ordinalDay: 28})", "1984-01-28"),
        ("date({year: 12024, month: 2, day: 29})", "+12024-02-29"),
        ("localtime({hour: 12, minute: 31, second: 14, millisecond: 123, microsecond: 456, nanosecond: 789})",
         "12:31:14.123456789"),
        ("localtime({time: time('12:31:14.645+01:00'), second: 42})", "12:31:42.645"),
        ("time({hour: 12})", "12:00Z"),
        ("time({hour: 12, timezone: '+02:05:59'})", "12:00+02:05:59"),
        ("time({time: localtime('12:31'), timezone: '+05:00'})", "12:31+05:00"),
        ("time({time: time('12:31+01:00'), second: 42, timezone: '+05:00'})", "16:31:42+05:00"),
        ("time({time: time('23:30Z'), timezone: '+05:00'})", "04:30+05:00"),
        ("localdatetime({year: 1984, week: 10, dayOfWeek: 3, nanosecond: 3})", "1984-03-07T00:00:00.000000003"),
        ("localdatetime({date: date('2024-02-29'), time: time('12:31+01:00')})", "2024-02-29T12:31"),
        ("datetime({year: 1984, timezone: 'Europe/Stockholm'})", "1984-01-01T00:00+01:00[Europe/Stockholm]"),
        ("datetime({datetime: datetime('1984-10-11T12:00[Europe/Stockholm]'), timezone: '+05:00'})",
         "1984-10-11T16:00+05:00"),
        ("datetime({datetime: localdatetime('1984-03-07T12:31'), day: 28, timezone: 'Pacific/Honolulu'})",
         "1984-03-28T12:31-10:00[Pacific/Honolulu]"),
        ("datetime({date: date('1984-03-07'), time: datetime('1984-10-11T12:00[Europe/Stockholm]'), day: 28})",
         "1984-03-28T12:00+02:00[Europe/Stockholm]"),
        ("datetime({date: date('1984-03-28'), time: datetime('1984-10-11T12:00[Europe/Berlin]'), timezone: 'Z'})",
         "1984-03-28T10:00Z"),
        ("datetime({epochSeconds: 416779, nanosecond: 123456789})", "1970-01-05T19:46:19.123456789Z"),
        ("datetime({epochMillis: 237821673987, timezone: '+01:00'})", "1977-07-15T14:34:33.987+01:00"),
        ("datetime.fromepoch(416779, 999999999)", "1970-01-05T19:46:19.999999999Z"),
        ("datetime.fromepochmillis(237821673987)", "1977-07-15T13:34:33.987Z"),
        ("datetime(date('2024-02-29'))", "2024-02-29T00:00Z"),
        ("time(datetime('2024-02-29T12:00[Europe/Stockholm]'))", "12:00+01:00"),
    ],
)  # fmt: skip
def test_moments_are_made_of_fields_and_of_each_other(ask: Ask, expression: str, expected: str) -> None:
    assert ask(f"toString({expression})") == expected


@pytest.mark.parametrize(
    ("expression", "word"),
    [
        ("localtime({hour: 24})", "hour 24"),
        ("localtime({hour: 1, minute: -1})", "minute -1"),
        ("localtime({millisecond: 1, microsecond: 1000})", "microsecond 1000"),
        ("localtime({hour: 1.5})", "INTEGER"),
        ("localtime({timezone: 'Z'})", "no field timezone"),
        ("time({year: 2024})", "no field year"),
        ("date({date: '2024-01-01'})", "must be a moment"),
        ("date({date: time('12:00')})", "year"),
        ("date({year: 2023, week: 53})", "week 53"),
        ("date({year: 1000000000})", "year 1000000000"),
        ("date({year: 9223372036854775807, month: 1})", "year"),
        ("datetime({year: 2024, timezone: 5})", "no time zone"),
        ("datetime({epochMillis: 9223372036854775807, timezone: '+01:00'}).year / 0", "zero"),
        ("datetime.fromepoch(9223372036854775807, 0)", "years"),
        ("date(time('12:00'))", "ZONED TIME"),
        ("time(date('2024-01-01'))", "DATE"),
        ("date(true)", "BOOLEAN"),
        ("duration({months: 1e300})", "18 digits"),
        ("duration({fortnights: 1})", "fortnights"),
        ("duration('soon')", "ISO 8601"),
    ],
)
def test_what_cannot_be_made_says_why(ask: Ask, expression: str, word: str) -> None:
    with pytest.raises(EvaluationError, match=word):
        ask(expression)


@pytest.mark.parametrize("kind", ["date", "localtime", "time", "localdatetime", "datetime", "duration"])
def test_null_makes_null(ask: Ask, kind: str) -> None:
    assert ask(f"{kind}(null)") is None


def test_fields_of_a_zoned_datetime(ask: Ask) -> None:
    moment = "datetime('1984-11-11T12:31:14.645876123[Europe/Stockholm]')"
    expected = {
        "year": 1984, "quarter": 4, "month": 11, "week": 45, "weekYear": 1984, "day": 11, "ordinalDay": 316,
        "weekDay": 7, "dayOfWeek": 7, "dayOfQuarter": 42, "hour": 12, "minute": 31, "second": 14, "millisecond": 645,
        "microsecond": 645_876, "nanosecond": 645_876_123, "timezone": "Europe/Stockholm", "offset": "+01:00",
        "offsetMinutes": 60, "offsetSeconds": 3600, "epochSeconds": 469_020_674, "epochMillis": 469_020_674_645,
    }  # fmt: skip
    assert {name: ask(f"{moment}.{name}") for name in expected} == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("localtime('12:31:14.5').millisecond", 500),
        ("time('12:31-01:30').offsetMinutes", -90),
        ("time('12:31-01:30').timezone", "-01:30"),
        ("date('-0044-03-15').year", -44),
        ("datetime('1969-12-31T23:59:59.9Z').epochSeconds", -1),
        ("duration('P1Y14M17DT3H4M5.000000006S').monthsOfYear", 2),
        ("duration('P1Y14M17DT3H4M5.000000006S').nanosecondsOfSecond", 6),
        ("duration('PT-0.001S').seconds", -1),
    ],
)
def test_fields_of_other_moments_and_durations(ask: Ask, expression: str, expected: object) -> None:
    assert ask(expression) == expected


@pytest.mark.parametrize("expression", ["localtime('12:00').year", "time('12:00').epochMillis", "date('2024').offset"])
def test_a_field_that_a_type_lacks_is_refused(ask: Ask, expression: str) -> None:
    with pytest.raises(EvaluationError, match="has no field"):
        ask(expression)


def test_types_have_names(ask: Ask) -> None:
    names = [ask(f"valueType({kind}('2024-01-01T10:00:00.000000001+01:00'))") for kind in
             ("date", "localtime", "time", "localdatetime", "datetime")]  # fmt: skip
    assert [name.removesuffix(" NOT NULL") for name in names] == [
        "DATE", "LOCAL TIME", "ZONED TIME", "LOCAL DATETIME", "ZONED DATETIME",
    ]  # fmt: skip
    assert ask("date('+12024-01-01')") > date.max
