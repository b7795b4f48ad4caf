"""Equality, order and grouping of moments: by the moment, whatever class or zone it comes in."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.cypher.durations import Duration
from vaultgraph.cypher.query import run_query
from vaultgraph.cypher.temporals import (
    FarDate,
    LocalDateTime,
    LocalTime,
    Time,
    ZonedDateTime,
    date_value,
    local_value,
    moment_key,
    zoned_in,
)
from vaultgraph.cypher.values import compare, group_key, order_key, type_name
from vaultgraph.cypher.zones import SECOND
from vaultgraph.errors import EvaluationError
from vaultgraph.graph.graph import Graph

Ask = Callable[..., Any]
Rows = Callable[..., list[tuple[Any, ...]]]
EMPTY = Graph(0, (), {}, {})

FEW_SECONDS = st.integers(0, 3).map(lambda second: second * 3600 * SECOND)
FEW_TIMES = st.builds(lambda second, rest: second + rest, FEW_SECONDS, st.sampled_from([0, 1, 1000]))
FEW_DAYS = st.integers(-1, 1) | st.sampled_from([-800_000, 4_000_000])
PLACES = st.sampled_from([0, 3600, -7200, "Europe/Berlin", "America/New_York"])
MOMENTS = st.one_of(
    st.builds(date_value, FEW_DAYS),
    st.builds(LocalTime, FEW_TIMES),
    st.builds(Time, FEW_TIMES, st.sampled_from([0, 3600, -3600])),
    st.builds(local_value, FEW_DAYS, FEW_TIMES),
    st.builds(zoned_in, FEW_DAYS, FEW_TIMES, PLACES),
    st.none(),
)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("datetime('2024-01-01T12:00+01:00') = datetime('2024-01-01T11:00Z')", True),
        ("datetime('2024-01-01T12:00[Europe/Berlin]') = datetime('2024-01-01T12:00+01:00')", True),
        ("datetime('2024-01-01T12:00+01:00') <> datetime('2024-01-01T12:00Z')", True),
        ("datetime('2024-01-01T12:00+01:00') < datetime('2024-01-01T12:00Z')", True),
        ("datetime('2024-01-01T12:00Z') < datetime('2024-01-01T12:00:00.000000001Z')", True),
        ("localdatetime('2024-01-01T12:00') < localdatetime('2024-01-01T12:00:00.000000001')", True),
        ("time('12:00+01:00') = time('11:00Z')", True),
        ("time('12:00+01:00') < time('11:30Z')", True),
        ("localtime('12:00') < localtime('12:00:01')", True),
        ("date('9999-12-31') < date('+10000-01-01')", True),
        ("date('-0001-01-01') < date('0001-01-01')", True),
        ("time('12:00Z') = localtime('12:00')", False),
        ("time('12:00Z') < localtime('13:00')", None),
        ("datetime('2024-01-01T12:00+01:00') = localdatetime('2024-01-01T12:00')", False),
        ("datetime('2024-01-01T12:00+01:00') < localdatetime('2024-01-01T12:00')", None),
        ("date('2024-01-01') = datetime('2024-01-01T00:00+01:00')", False),
        ("date('2024-01-01') < 5", None),
        ("datetime('2024-01-01T12:00+01:00') IN [datetime('2024-01-01T11:00Z')]", True),
        ("[datetime('2024-01-01T12:00+01:00')] = [datetime('2024-01-01T11:00Z')]", True),
        ("{at: time('12:00+01:00')} = {at: time('11:00Z')}", True),
        ("duration('P1D') = duration('PT24H')", False),
        ("duration('P1D') < duration('PT25H')", None),
    ],
)
def test_moments_are_compared_by_what_they_mean(ask: Ask, expression: str, expected: object) -> None:
    assert ask(expression) is expected


def test_one_moment_in_two_zones_is_one_group_and_one_distinct_value(ask_rows: Rows) -> None:
    moments = "[datetime('2024-01-01T12:00+01:00'), datetime('2024-01-01T11:00Z'), datetime('2024-01-01T12:00Z')]"
    assert ask_rows(f"UNWIND {moments} AS m RETURN m, count(*) AS n ORDER BY m") == [
        (datetime(2024, 1, 1, 11, tzinfo=UTC), 2),
        (datetime(2024, 1, 1, 12, tzinfo=UTC), 1),
    ]
    assert ask_rows(f"UNWIND {moments} AS m RETURN count(DISTINCT m)") == [(2,)]
    assert ask_rows(f"UNWIND {moments} AS m WITH DISTINCT m RETURN count(*)") == [(2,)]


def test_moments_are_joined_by_what_they_mean(ask_rows: Rows) -> None:
    query = """
        UNWIND [datetime('2024-01-01T11:00Z'), datetime('2024-01-01T13:00Z')] AS a
        UNWIND [datetime('2024-01-01T12:00+01:00'), datetime('2024-01-01T12:00:00.000000001+01:00')] AS b
        WITH a, b WHERE a = b RETURN toString(a), toString(b)
    """
    assert ask_rows(query) == [("2024-01-01T11:00Z", "2024-01-01T12:00+01:00")]


def test_least_and_most_go_by_the_moment(ask_rows: Rows) -> None:
    times = "['12:00+01:00', '11:30Z', '10:00-02:00', '11:00:00.000000001Z']"
    query = f"UNWIND {times} AS t WITH time(t) AS t RETURN toString(min(t)), toString(max(t))"
    assert ask_rows(query) == [("12:00+01:00", "10:00-02:00")]


def test_all_types_have_a_place_in_the_order(ask_rows: Rows) -> None:
    query = """
        UNWIND [1, 'a', duration('P1D'), localtime('10:00'), time('10:00Z'), date('2024-01-01'), date('+12024-01-01'),
                localdatetime('2024-01-01T10:00'), datetime('2024-01-01T10:00+01:00'), datetime('2024-01-01T10:00Z'),
                null] AS v
        WITH v ORDER BY v RETURN collect(valueType(v)) AS types, collect(toString(v)) AS texts
    """
    [[_, texts]] = ask_rows(query)
    assert texts == [
        "2024-01-01T10:00+01:00", "2024-01-01T10:00Z", "2024-01-01T10:00", "2024-01-01", "+12024-01-01", "10:00Z",
        "10:00", "P1D", "a", "1",
    ]  # fmt: skip


@settings(deadline=None)
@given(st.lists(MOMENTS, min_size=1, max_size=6), st.lists(MOMENTS, min_size=1, max_size=6))
def test_columns_of_moments_compare_like_single_ones(left: list[object], right: list[object]) -> None:
    query = """
        UNWIND $left AS a UNWIND $right AS b
        RETURN a, b, a = b, a <> b, a < b, a <= b, a > b, a >= b, a IN [b]
    """
    for a, b, *found, is_in in run_query(EMPTY, query, {"left": left, "right": right}).rows:
        assert found == [compare(operator, a, b) for operator in ("=", "<>", "<", "<=", ">", ">=")]
        assert is_in is found[0]


@settings(deadline=None)
@given(MOMENTS, MOMENTS)
def test_equality_order_and_grouping_agree(one: object, other: object) -> None:
    if one is None or other is None:
        return
    is_equal = compare("=", one, other)
    assert is_equal is (moment_key(one) == moment_key(other))
    assert (group_key(one) == group_key(other)) is is_equal
    assert (order_key(one) == order_key(other)) is is_equal
    if is_equal:
        assert hash(one) == hash(other)
    if type_name(one) == type_name(other):
        assert compare("<", one, other) is (order_key(one) < order_key(other))
        assert compare(">", one, other) is (order_key(one) > order_key(other))


def test_a_typed_column_is_compared_with_a_moment_of_another_zone(ask_rows: Rows) -> None:
    query = """
        UNWIND range(0, 99) AS hour WITH datetime('2024-01-01T00:00Z') + duration({hours: hour}) AS at
        WITH at WHERE at >= datetime('2024-01-02T00:00[Europe/Berlin]') AND at < datetime('2024-01-02T00:00-01:00')
        RETURN toString(at)
    """
    assert ask_rows(query) == [("2024-01-01T23:00Z",), ("2024-01-02T00:00Z",)]


def test_pythons_moments_come_in_as_what_they_say(ask: Ask) -> None:
    berlin = datetime(2024, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    assert ask("toString($m)", m=berlin) == "2024-07-01T12:00+02:00[Europe/Berlin]"
    assert ask("toString($m)", m=berlin.astimezone(timezone(timedelta(hours=-1)))) == "2024-07-01T09:00-01:00"
    assert ask("$m", m=berlin.astimezone(UTC)) == berlin
    assert type(ask("$m", m=berlin.astimezone(ZoneInfo("UTC")))) is datetime
    assert ask("toString($t)", t=berlin.time()) == "12:00"
    assert ask("toString($t)", t=berlin.astimezone(timezone(timedelta(hours=-1))).timetz()) == "09:00-01:00"
    assert ask("toString($d)", d=timedelta(days=-1, seconds=5)) == "P-1DT5S"
    assert ask("$m.zone IS NULL", m={"zone": None}) is True


def test_pythons_moments_that_no_text_can_tell_come_in_as_utc(ask: Ask) -> None:
    for zone in (timezone(timedelta(hours=20)), timezone(timedelta(hours=1, microseconds=5))):
        moment = datetime(2024, 7, 1, 12, tzinfo=zone)
        assert ask("$m", m=moment) == moment
        assert ask("$m.offset", m=moment) == "Z"


@pytest.mark.parametrize(
    "value",
    [
        LocalTime(-1),
        LocalTime(86_400 * SECOND),
        Time(0, 70_000),
        ZonedDateTime(0, 0, 3600, "Mars/Base"),
        LocalDateTime(10**15, 0),
        Duration(10**18),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=20))),
    ],
)
def test_moments_that_there_are_not_stay_outside(ask: Ask, value: object) -> None:
    with pytest.raises(EvaluationError, match=r"\$m"):
        ask("$m", m=value)
    with pytest.raises(EvaluationError, match=r"\$m"):
        ask("$m", m=[value])


def test_answers_compare_with_pythons_moments(ask: Ask) -> None:
    moment = ask("datetime('2024-07-01T12:00[Europe/Berlin]')")
    assert isinstance(moment, ZonedDateTime)
    assert moment == datetime(2024, 7, 1, 10, tzinfo=UTC)
    assert datetime(2024, 7, 1, 9, tzinfo=UTC) < moment < datetime(2024, 7, 1, 11, tzinfo=UTC)
    assert moment != datetime(2024, 7, 1, 10)
    assert {moment, datetime(2024, 7, 1, 10, tzinfo=UTC)} == {moment}
    assert FarDate(4_000_000) > date.max
    with pytest.raises(TypeError):
        assert moment < date.max
    assert LocalDateTime(0, 1) > datetime(1970, 1, 1)
    assert str(moment) == "2024-07-01T12:00+02:00[Europe/Berlin]"
