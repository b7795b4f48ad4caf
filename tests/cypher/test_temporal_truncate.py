"""Cutting moments down to a unit, and setting fields of what is left."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.cypher.query import run_query
from vaultgraph.errors import EvaluationError
from vaultgraph.graph.graph import Graph

EMPTY = Graph(0, (), {}, {})
Ask = Callable[..., Any]
MOMENT = "datetime('1984-10-11T12:31:14.645876123-01:00')"


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("millennium", "1000-01-01T00:00-01:00"),
        ("century", "1900-01-01T00:00-01:00"),
        ("decade", "1980-01-01T00:00-01:00"),
        ("year", "1984-01-01T00:00-01:00"),
        ("weekYear", "1984-01-02T00:00-01:00"),
        ("quarter", "1984-10-01T00:00-01:00"),
        ("month", "1984-10-01T00:00-01:00"),
        ("week", "1984-10-08T00:00-01:00"),
        ("day", "1984-10-11T00:00-01:00"),
        ("hour", "1984-10-11T12:00-01:00"),
        ("minute", "1984-10-11T12:31-01:00"),
        ("second", "1984-10-11T12:31:14-01:00"),
        ("millisecond", "1984-10-11T12:31:14.645-01:00"),
        ("microsecond", "1984-10-11T12:31:14.645876-01:00"),
        ("MONTH", "1984-10-01T00:00-01:00"),
    ],
)
def test_a_datetime_keeps_its_zone(ask: Ask, unit: str, expected: str) -> None:
    assert str(ask(f"datetime.truncate('{unit}', {MOMENT})")) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (f"date.truncate('week', {MOMENT}, {{dayOfWeek: 2}})", "1984-10-09"),
        (f"date.truncate('weekYear', {MOMENT}, {{day: 5}})", "1984-01-05"),
        (f"localdatetime.truncate('hour', {MOMENT}, {{nanosecond: 2}})", "1984-10-11T12:00:00.000000002"),
        (f"localdatetime.truncate('millisecond', {MOMENT}, {{nanosecond: 2}})", "1984-10-11T12:31:14.645000002"),
        (f"localdatetime.truncate('microsecond', {MOMENT}, {{nanosecond: 2}})", "1984-10-11T12:31:14.645876002"),
        (f"datetime.truncate('hour', {MOMENT}, {{timezone: 'Europe/Stockholm'}})",
         "1984-10-11T12:00+01:00[Europe/Stockholm]"),
        (f"time.truncate('hour', {MOMENT}, {{timezone: '+01:00'}})", "12:00+01:00"),
        (f"time.truncate('day', {MOMENT})", "00:00-01:00"),
        ("time.truncate('minute', localtime('12:31:14'))", "12:31Z"),
        (f"localtime.truncate('second', {MOMENT})", "12:31:14"),
        ("datetime.truncate('day', date('1984-10-11'))", "1984-10-11T00:00Z"),
        ("datetime.truncate('month', localdatetime('2024-03-31T12:00'), {timezone: 'Europe/Berlin'})",
         "2024-03-01T00:00+01:00[Europe/Berlin]"),
        ("datetime.truncate('year', datetime('2024-07-01T12:00[Europe/Berlin]'))",
         "2024-01-01T00:00+01:00[Europe/Berlin]"),
        ("date.truncate('millennium', date('0984-10-11'))", "0000-01-01"),
    ],
)  # fmt: skip
def test_fields_are_set_on_what_is_left(ask: Ask, expression: str, expected: str) -> None:
    assert ask(f"toString({expression})") == expected


@settings(deadline=None, max_examples=15)
@given(st.lists(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)) | st.none(), min_size=2, max_size=5))
def test_columns_are_cut_like_single_moments(moments: list[datetime | None]) -> None:
    units = ["decade", "year", "quarter", "month", "week", "weekYear", "day", "hour", "minute", "second", "millisecond"]
    zoned = [None if moment is None else moment.replace(tzinfo=UTC) for moment in moments]
    for unit in units:
        for kind, column in (("localdatetime", moments), ("datetime", zoned)):
            cut = f"{kind}.truncate('{unit}', m)"
            query = f"UNWIND $m AS m RETURN {cut}, [x IN [m] | {cut.replace('m)', 'x)')}][0]"
            assert all(whole == single for whole, single in run_query(EMPTY, query, {"m": column}).rows), unit
        if unit not in ("hour", "minute", "second", "millisecond"):
            days = [None if moment is None else moment.date() for moment in moments]
            query = f"UNWIND $m AS m RETURN date.truncate('{unit}', m), [x IN [m] | date.truncate('{unit}', x)][0]"
            assert all(whole == single for whole, single in run_query(EMPTY, query, {"m": days}).rows), unit


@pytest.mark.parametrize(
    ("expression", "word"),
    [
        ("date.truncate('hour', date('2024-01-01'))", "'hour'"),
        ("date.truncate('moon', date('2024-01-01'))", "Units: millennium"),
        ("localtime.truncate('month', localtime('12:00'))", "Units: day, hour"),
        ("date.truncate('day', localtime('12:00'))", "'day'|no part"),
        ("datetime.truncate('day', localtime('12:00'))", "no part|year"),
        ("localtime.truncate('hour', date('2024-01-01'))", "'hour'"),
        ("date.truncate('day', date('2024-01-01'), {day: 32})", "day 32"),
    ],
)
def test_what_cannot_be_cut_says_why(ask: Ask, expression: str, word: str) -> None:
    with pytest.raises(EvaluationError, match=word):
        ask(expression)
