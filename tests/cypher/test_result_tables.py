"""A result as a frame, and as a table to look at."""

import json
from datetime import date

import polars as pl
import pytest
from rich.console import Console

from vaultgraph.cypher.query import run_query


@pytest.fixture(scope="module")
def graph(make_graph):
    nodes = [(["Note"], {"path": f"n{at}.md", "rank": at, "day": date(2031, 5, 1)}) for at in range(30)]
    return make_graph(nodes, [(0, "LINKS_TO", 1, {"line": 3})])


def test_typed_columns_keep_their_types_in_a_frame(graph):
    query = (
        "MATCH (n) RETURN n.rank AS rank, n.rank / 2.0 AS half, n.path AS path, n.day AS day, [n.rank] AS list LIMIT 1"
    )
    frame = run_query(graph, query).to_polars()
    assert frame.schema == {
        "rank": pl.Int64,
        "half": pl.Float64,
        "path": pl.String,
        "day": pl.Date,
        "list": pl.List(pl.Int64),
    }
    assert frame.rows() == [(0, 0.0, "n0.md", date(2031, 5, 1), [0])]


def test_graph_values_are_json_text_in_a_frame(graph):
    query = "MATCH p = (n {rank: 0})-[r]->(m) RETURN n, r, p, {day: n.day} AS map, null AS nothing"
    row = run_query(graph, query).to_polars().row(0, named=True)
    assert json.loads(row["n"]) == {
        "labels": ["Note"],
        "properties": {"path": "n0.md", "rank": 0, "day": "2031-05-01"},
    }
    assert json.loads(row["r"]) == {"type": "LINKS_TO", "properties": {"line": 3}}
    assert [node["properties"]["rank"] for node in json.loads(row["p"])["nodes"]] == [0, 1]
    assert json.loads(row["map"]) == {"day": "2031-05-01"}
    assert row["nothing"] is None


def test_times_without_a_type_of_polars_are_plain_text_in_a_frame(graph):
    query = (
        "UNWIND [duration('P1D'), null] AS one "
        "RETURN one, datetime('2031-05-01T10:00[Europe/Berlin]') AS zoned, localtime('10:00') AS clock, "
        "[datetime('2031-05-01T10:00Z'), one] AS mixed"
    )
    frame = run_query(graph, query).to_polars()
    assert frame.rows() == [
        ("P1D", "2031-05-01T10:00+02:00[Europe/Berlin]", "10:00", '["2031-05-01T10:00:00Z", "P1D"]'),
        (None, "2031-05-01T10:00+02:00[Europe/Berlin]", "10:00", '["2031-05-01T10:00:00Z", null]'),
    ]


def test_arrow_has_the_same_columns(graph):
    result = run_query(graph, "MATCH (n) RETURN n.rank AS rank, n ORDER BY rank")
    table = result.to_arrow()
    assert table.column_names == ["rank", "n"]
    assert table.column("rank").to_pylist() == list(range(30))


def test_an_empty_result_is_an_empty_frame(graph):
    frame = run_query(graph, "MATCH (n:Nothing) RETURN n.x AS x, n").to_polars()
    assert (frame.height, frame.columns) == (0, ["x", "n"])


def test_a_notebook_shows_the_first_rows_escaped(graph):
    shown = run_query(graph, "MATCH (n) RETURN '<b>' + n.path AS `<path>` ORDER BY n.rank")._repr_html_()
    assert shown.startswith(
        "<table><thead><tr><th>&lt;path&gt;</th></tr></thead><tbody><tr><td>&lt;b&gt;n0.md</td></tr>"
    )
    assert shown.count("<tr>") == 21
    assert shown.endswith("<p>20 of 30 rows</p>")


def test_rich_prints_a_table(graph):
    console = Console(width=60)
    with console.capture() as captured:
        console.print(run_query(graph, "MATCH (n) WHERE n.rank < 2 RETURN n.path AS path, '[red]' AS markup"))
    lines = captured.get().splitlines()
    assert "path" in lines[1]
    assert [line.split()[1] for line in lines[3:5]] == ["n0.md", "n1.md"]
    assert "[red]" in lines[3]
