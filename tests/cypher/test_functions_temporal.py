"""Dates, datetimes and durations in expressions."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.clauses import parse
from vaultgraph.cypher.durations import Duration
from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.execute.bindings import Bindings
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.evaluate import evaluate
from vaultgraph.cypher.execute.fetch import column_values
from vaultgraph.cypher.execute.pattern_runner import PlannedPatterns
from vaultgraph.cypher.syntax import Return
from vaultgraph.errors import EvaluationError
from vaultgraph.graph.facts import Facts
from vaultgraph.graph.graph import Graph

NO_STATISTICS = Statistics(Facts(Graph(0, (), {}, {})))


@pytest.fixture
def value() -> Callable[[str], object]:
    """What an expression gives on 15 January 2026, 00:30 one hour east of Greenwich."""

    def run(text: str) -> object:
        query = f"RETURN {text}"
        clause = parse(query).parts[0].clauses[0]
        assert isinstance(clause, Return)
        now = datetime(2026, 1, 15, 0, 30, tzinfo=timezone(timedelta(hours=1)))
        context = Context(Graph(0, (), {}, {}), {}, query, Budget(), now, PlannedPatterns({}, NO_STATISTICS))
        return column_values(evaluate(clause.projection.items[0].expression, Bindings(1, {}), context))[0]

    return run


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("date()", date(2026, 1, 15)),
        ("date('2026-01-15')", date(2026, 1, 15)),
        ("date('20260115')", date(2026, 1, 15)),
        ("date('2026-02')", date(2026, 2, 1)),
        ("date('2026')", date(2026, 1, 1)),
        ("date('2026-W03-4')", date(2026, 1, 15)),
        ("date('2026-015')", date(2026, 1, 15)),
        ("date('2026-01-15T10:30:00')", date(2026, 1, 15)),
        ("date('2026-02-30')", None),
        ("date('soon')", None),
        ("date(null)", None),
        ("date({year: 2026, month: 2, day: 3})", date(2026, 2, 3)),
        ("date({year: 2026})", date(2026, 1, 1)),
        ("date({year: 2026, week: 3, dayOfWeek: 4})", date(2026, 1, 15)),
        ("date({year: 2026, ordinalDay: 32})", date(2026, 2, 1)),
        ("date({year: 2026, quarter: 2, dayOfQuarter: 2})", date(2026, 4, 2)),
        ("date({date: date('2026-01-15'), month: 3})", date(2026, 3, 15)),
        ("date(datetime('2026-01-15T23:30:00-02:00'))", date(2026, 1, 15)),
    ],
)
def test_dates_are_made_from_text_fields_and_datetimes(
    value: Callable[[str], object], text: str, expected: object
) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("datetime()", datetime(2026, 1, 14, 23, 30, tzinfo=UTC)),
        ("datetime('2026-01-15T10:00:00+02:00')", datetime(2026, 1, 15, 8, 0, tzinfo=UTC)),
        ("datetime('2026-01-15T10:00')", datetime(2026, 1, 15, 10, 0, tzinfo=UTC)),
        ("datetime('2026-07-15T10:00[Europe/Berlin]')", datetime(2026, 7, 15, 8, 0, tzinfo=UTC)),
        ("datetime('2026-015T1030')", datetime(2026, 1, 15, 10, 30, tzinfo=UTC)),
        ("datetime('noon')", None),
        ("datetime('2026-01-15T')", None),
        ("datetime({year: 2026, hour: 3, timezone: '+01:00'})", datetime(2026, 1, 1, 2, 0, tzinfo=UTC)),
        ("datetime({epochMillis: 1500})", datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)),
        ("localdatetime()", datetime(2026, 1, 15, 0, 30)),
        ("localdatetime('2026-01-15T10:00:00+02:00')", datetime(2026, 1, 15, 10, 0)),
        ("localdatetime(date('2026-01-15'))", datetime(2026, 1, 15)),
        ("timestamp()", 1_768_433_400_000),
    ],
)
def test_datetimes_with_a_zone_are_in_utc(value: Callable[[str], object], text: str, expected: object) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("date() - duration('P7D')", date(2026, 1, 8)),
        ("date('2026-01-31') + duration({months: 1})", date(2026, 2, 28)),
        ("duration({days: 1}) + date('2026-01-31')", date(2026, 2, 1)),
        ("datetime('2026-01-15T23:00Z') + duration('PT2H')", datetime(2026, 1, 16, 1, 0, tzinfo=UTC)),
        ("duration('P1D') + duration('PT1H')", Duration(days=1, seconds=3600)),
        ("duration('P2D') * 2", Duration(days=4)),
        ("duration('P1D') / 2", Duration(seconds=43_200)),
        ("-duration('P1D')", Duration(days=-1)),
        ("duration.between(date('1984-10-11'), date('2015-06-24'))", Duration(368, 13)),
        ("duration.between(date('2026-03-31'), date('2026-02-28'))", Duration(-1)),
        ("duration.between(localdatetime('2015-07-21T21:40:32'), date('2015-06-24'))", Duration(0, -27, -78_032)),
        ("duration.inDays(date('2026-01-01'), date('2026-03-01'))", Duration(days=59)),
        ("duration.inDays(date('2026-03-01'), date('2026-01-01')).days", -59),
        ("duration.inMonths(date('2026-01-31'), date('2026-03-30'))", Duration(months=1)),
        ("duration.inSeconds(date('2026-01-01'), date('2026-01-02'))", Duration(seconds=86_400)),
        ("date('2026-01-15') > date() - duration('P7D')", True),
        ("date('2026-01-15') = datetime('2026-01-15')", False),
        ("date('2026-01-15') < datetime('2026-01-16')", None),
        ("'due ' + date('2026-01-15')", "due 2026-01-15"),
    ],
)
def test_dates_and_durations_are_calculated_with(value: Callable[[str], object], text: str, expected: object) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("date('2026-01-15').year", 2026),
        ("date('2026-01-15').quarter", 1),
        ("date('2026-01-15').week", 3),
        ("date('2026-01-15').dayOfWeek", 4),
        ("date('2026-02-01').ordinalDay", 32),
        ("date('2026-02-01').dayOfQuarter", 32),
        ("date('2027-01-01').weekYear", 2026),
        ("datetime('2026-01-15T10:20:30.456Z').hour", 10),
        ("datetime('2026-01-15T10:20:30.456Z').millisecond", 456),
        ("datetime('1970-01-01T00:00:01Z').epochMillis", 1000),
        ("datetime('1970-01-01T00:00:01Z').timezone", "Z"),
        ("duration('PT1H30M').minutes", 90),
        ("duration('PT1H30M').minutesOfHour", 30),
        ("duration('P1Y2M').monthsOfYear", 2),
        ("duration('P10D').weeks", 1),
        ("date(null).year", None),
    ],
)
def test_fields_of_moments_and_durations(value: Callable[[str], object], text: str, expected: object) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("date.truncate('week', date('2026-01-15'))", date(2026, 1, 12)),
        ("date.truncate('month', datetime('2026-01-15T10:00Z'))", date(2026, 1, 1)),
        ("date.truncate('quarter', date('2026-06-15'))", date(2026, 4, 1)),
        ("date.truncate('decade', date('2026-06-15'))", date(2020, 1, 1)),
        ("date.truncate('week', date('2026-01-15'), {dayOfWeek: 2})", date(2026, 1, 13)),
        ("date.truncate('year')", date(2026, 1, 1)),
        ("datetime.truncate('hour', datetime('2026-01-15T10:20:30Z'))", datetime(2026, 1, 15, 10, tzinfo=UTC)),
        ("localdatetime.truncate('day', localdatetime('2026-01-15T10:20:30'))", datetime(2026, 1, 15)),
    ],
)
def test_moments_are_cut_to_a_unit(value: Callable[[str], object], text: str, expected: object) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("date({month: 2})", "year"),
        ("date({year: 2026, month: 13})", "month"),
        ("date({year: 2026, moon: 1})", "moon"),
        ("date({year: '2026'})", "INTEGER"),
        ("datetime({year: 2026, timezone: 'Mars/Base'})", "Mars/Base"),
        ("date.truncate('hour', date('2026-01-15'))", "hour"),
        ("date('2026-01-15').hour", "hour"),
        ("date('2026-01-15') - date('2026-01-01')", "duration.between"),
        ("date('+999999999-12-31') + duration('P1D')", "years"),
        ("datetime({year: 1000000000})", "year"),
        ("date(1)", "INTEGER"),
    ],
)
def test_impossible_moments_are_refused(value: Callable[[str], object], text: str, word: str) -> None:
    with pytest.raises(EvaluationError, match=word):
        value(text)
