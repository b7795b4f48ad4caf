"""Warnings about values: dates compared with texts or with moments of another type, which never match."""

from datetime import UTC, date, datetime

import pytest

from vaultgraph.cypher.query import run_query


@pytest.fixture(scope="module")
def log(make_graph):
    nodes = [
        (("Log",), {"day": date(2026, 5, 3), "at": datetime(2026, 5, 3, 9, 0), "name": "a"}),
        (("Log",), {"day": date(2026, 5, 4), "at": datetime(2026, 5, 4, 9, 0), "name": "2026"}),
    ]
    return make_graph(nodes, [])


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("MATCH (l:Log) WHERE l.day >= '2026-05-03' RETURN l", "Compare with date('2026-05-03')"),
        ("MATCH (l:Log) WHERE '2026-05-03' = l.day RETURN l", "Compare with date('2026-05-03')"),
        ("MATCH (l:Log) WHERE l.day > $since RETURN l", "Compare with date($since)"),
        ("MATCH (l:Log {day: '2026-05-03'}) RETURN l", "Compare with date('2026-05-03')"),
        ("MATCH (l:Log) WHERE l.day IN ['2026-05-03'] RETURN l", "Compare with date('2026-05-03')"),
        ("MATCH (l:Log) WHERE l.at IN ['2026-05-03', 1] RETURN l", "Write localdatetime('…') in the list"),
        ("MATCH (l:Log) WHERE l.day STARTS WITH '2026' RETURN l", "write toString(l.day)"),
        ("MATCH (l:Log) WHERE l.day =~ '2026.*' RETURN l", "write toString(l.day)"),
        ("MATCH (l:Log) WHERE l.at > date('2026-01-01') RETURN l", "Compare with localdatetime(…)"),
        ("MATCH (l:Log) WHERE l.at > l.day RETURN l", "Compare with localdatetime(…)"),
        ("MATCH (l:Log) WHERE l.day < l.name RETURN l", "Compare with date(…)"),
    ],
)
def test_a_date_compared_with_what_never_matches_gives_a_warning(log, text, advice):
    answer = run_query(log, text, {"since": "2026-05-03"})
    assert answer.rows == []
    (warning,) = answer.warnings
    assert advice in warning


@pytest.mark.parametrize(
    "condition",
    [
        "l.day >= date('2026-05-03')",
        "l.day = null",
        "l.at > localdatetime('2026-05-03T00:00')",
        "toString(l.day) STARTS WITH '2026'",
        "l.name >= '2026'",
        "l.day IN [date('2026-05-03')]",
        "l.name = 'nobody'",
    ],
)
def test_comparing_like_with_like_gives_none(log, condition):
    assert run_query(log, f"MATCH (l:Log) WHERE {condition} RETURN l").warnings == ()


def test_a_moment_with_a_zone_can_be_compared_by_its_date(make_graph):
    graph = make_graph([(("N",), {"name": "a"})], [])
    text = "MATCH (n) WITH n, $at AS at WITH n, at, [at][0] AS m WHERE m > date('2026-01-01') RETURN n"
    assert run_query(graph, text, {"at": datetime(2026, 5, 3, tzinfo=UTC)}).rows == []
