"""Binding: columns, grouping, ORDER BY, SKIP, LIMIT and UNION."""

from collections.abc import Mapping

import pytest

from vaultgraph.cypher.bind import Bound, bind
from vaultgraph.cypher.clauses import parse
from vaultgraph.cypher.printer import print_expression
from vaultgraph.cypher.syntax import Projection, Return, With
from vaultgraph.errors import BindError


def bound(text: str, parameters: Mapping[str, object] | None = None) -> Bound:
    return bind(parse(text), text, None, parameters or {})


def refusal(text: str, parameters: Mapping[str, object] | None = None) -> BindError:
    with pytest.raises(BindError) as caught:
        bound(text, parameters)
    return caught.value


def last(text: str) -> Projection:
    clause = bound(text).query.parts[0].clauses[-1]
    assert isinstance(clause, Return)
    return clause.projection


def order(text: str) -> list[str]:
    return [print_expression(item.expression) for item in last(text).order]


def test_the_star_is_spelled_out_in_the_order_variables_came():
    projection = last("MATCH (b)-[r]->(a), () RETURN *, 1 AS x")
    assert not projection.star
    assert [item.name for item in projection.items] == ["b", "r", "a", "x"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("MATCH () RETURN *", "no variables for *"),
        ("MATCH (n) RETURN n.x AS a, n.y AS a", "Two columns are named 'a'"),
        ("MATCH (n) RETURN *, n", "Two columns"),
        ("MATCH (n) WITH n.x RETURN 1", "n.x AS name"),
        ("MATCH (n) WITH n, count(*) RETURN n", "count(*) AS name"),
        ("RETURN 1 AS a UNION RETURN 2 AS b", "same columns: here they are b, before a"),
        ("RETURN 1 AS a UNION ALL RETURN 1 AS a, 2 AS b", "same columns"),
    ],
)
def test_columns_are_checked(text, part):
    assert part in refusal(text).reason


def test_the_parts_of_a_union_get_the_column_order_of_the_first():
    result = bound("RETURN 1 AS a, 2 AS b UNION RETURN 3 AS b, 4 AS a")
    clause = result.query.parts[1].clauses[0]
    assert result.columns == ("a", "b")
    assert isinstance(clause, Return)
    assert [(item.name, print_expression(item.expression)) for item in clause.projection.items] == [
        ("a", "4"),
        ("b", "3"),
    ]


def test_the_parts_of_a_union_do_not_share_variables():
    assert "not defined" in refusal("MATCH (n) RETURN n.x AS x UNION RETURN n.x AS x").reason


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (n) WHERE count(n) > 1 RETURN n",
        "RETURN count(count(*)) AS x",
        "MATCH (n) RETURN sum(1 + max(n.x)) AS x",
        "MATCH (n) RETURN [x IN [1] | count(*)] AS xs",
        "MATCH (n {x: count(*)}) RETURN n",
        "MATCH (n) WHERE EXISTS { (n {x: count(*)}) } RETURN n",
        "UNWIND [count(*)] AS x RETURN x",
        "MATCH (n) RETURN n.x ORDER BY max(n.y)",
        "MATCH (n) RETURN n.x LIMIT count(*)",
    ],
)
def test_aggregates_stand_only_in_with_and_return(text):
    error = refusal(text)
    assert "aggregate" in error.reason


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a), (b) RETURN a.x + count(b.x)",
        "MATCH (a), (b) RETURN a.x + b.x, a.x + b.x + count(*)",
        "MATCH (a) WITH a.x + count(*) AS y RETURN y",
        "MATCH (a) RETURN {k: a.x, n: count(*)}",
        "MATCH (a) RETURN size([(a)-->(b) | b]) + count(*)",
        "MATCH (a) RETURN [x IN collect(a.x) | x + a.y]",
    ],
)
def test_what_stands_beside_an_aggregate_must_be_grouped_by(text):
    assert "not grouped by it" in refusal(text).reason


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a), (b) RETURN a.x, a.x + count(b.x)",
        "MATCH (a) RETURN a, a.x + count(*)",
        "MATCH (a) RETURN $p + avg(a.x) - 1000",
        "MATCH (a) RETURN a.x, {k: a.x, n: collect(a.y)} AS m",
        "MATCH (a) RETURN size([x IN collect(a.x) WHERE x > 1 | x]) AS n",
        "MATCH (a) RETURN a, size([(a)-->(b) | b.x]) + count(*) AS n",
        "MATCH (a) RETURN collect(a)[0].x AS x",
        "MATCH (a) RETURN reduce(s = 0, x IN collect(a.x) | s + x) AS s",
    ],
)
def test_grouped_items_are_accepted(text):
    assert bound(text, {"p": 1})


def test_order_by_after_grouping_refers_to_columns():
    assert order("MATCH (n) RETURN n.x, count(*) ORDER BY count(*) DESC, n.x") == ["`count(*)`", "`n.x`"]
    assert order("MATCH (n) RETURN n.x AS a, max(n.y) AS b ORDER BY n.x + max(n.y)") == ["(a + b)"]
    assert order("MATCH (n) RETURN n, count(*) AS c ORDER BY n.x") == ["n.x"]
    assert order("MATCH (n) RETURN n.x + n.y AS s, count(*) AS c ORDER BY n.x + n.y") == ["s"]
    assert order("MATCH (n) RETURN DISTINCT n.x ORDER BY n.x") == ["`n.x`"]


def test_order_by_of_plain_rows_sees_columns_and_what_was_before():
    assert order("MATCH (n) RETURN n.x AS a ORDER BY n.y, a + 1") == ["n.y", "(a + 1)"]
    assert bound("MATCH (a) WITH a.x AS x WHERE a.y = 1 RETURN x")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("MATCH (n) RETURN DISTINCT n.x ORDER BY n.y", "n"),
        ("MATCH (a), (b) RETURN count(b.x) AS c ORDER BY a.x + count(b.x)", "a"),
        ("MATCH (a) WITH a.x % 3 AS m, min(a.y) AS y ORDER BY sum(a.z) RETURN m", "a"),
        ("MATCH (a), (b) RETURN a.x + b.x, count(*) AS c ORDER BY a.x + b.x + count(*)", "a"),
    ],
)
def test_order_by_after_grouping_cannot_use_what_is_gone(text, name):
    error = refusal(text)
    assert f"'{name}' is gone here" in error.reason


def test_with_makes_a_new_scope():
    assert bound("MATCH (n) WITH n.x AS n RETURN n + 1 AS y").columns == ("y",)
    assert "is gone" in refusal("MATCH (n) WITH n.x AS x ORDER BY n.y RETURN n").reason
    assert "is not defined" in refusal("MATCH (n), (c) WITH n WITH n ORDER BY d RETURN n").reason


def test_where_of_a_grouping_with_means_the_columns():
    clause = (
        bound("MATCH (n) WITH n.x AS x, count(*) AS c WHERE count(*) > 1 AND n.x = 2 RETURN x")
        .query.parts[0]
        .clauses[1]
    )
    assert isinstance(clause, With)
    assert clause.where is not None
    assert print_expression(clause.where) == "((c > 1) AND (x = 2))"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("MATCH (n) RETURN n SKIP n.x", "depend on the rows"),
        ("MATCH (n) RETURN n LIMIT -1", "negative"),
        ("MATCH (n) RETURN n SKIP 1.5", "whole number, and this is 1.5"),
        ("MATCH (n) RETURN n LIMIT 'a'", "whole number"),
        ("MATCH (n) RETURN n LIMIT true", "whole number"),
        ("MATCH (n) RETURN n LIMIT $neg", "negative"),
        ("MATCH (n) RETURN n LIMIT $text", "whole number"),
        ("MATCH (n) RETURN n LIMIT $none", "whole number"),
        ("MATCH (n) RETURN n LIMIT $missing", "missing"),
        ("MATCH (n) RETURN n LIMIT toString(1)", "whole number"),
    ],
)
def test_skip_and_limit_take_whole_numbers(text, part):
    assert part in refusal(text, {"neg": -1, "text": "5", "none": None}).reason


@pytest.mark.parametrize("count", ["0", "10", "$n", "1 + 2", "toInteger(ceil(1.7))"])
def test_skip_and_limit_may_be_computed_from_constants(count):
    assert bound(f"MATCH (n) RETURN n SKIP {count} LIMIT {count}", {"n": 3})
