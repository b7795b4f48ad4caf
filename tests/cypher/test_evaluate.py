"""Expressions over nodes and relationships of a graph: properties, labels, entity functions, laziness, errors."""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from threading import Event

import numpy as np
import polars as pl
import pytest

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.clauses import parse
from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.execute.bindings import (
    Bindings,
    BoundColumn,
    NodeColumn,
    ObjectColumn,
    RelationshipColumn,
    ValueColumn,
)
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.evaluate import evaluate, evaluate_constant
from vaultgraph.cypher.execute.fetch import column_values, filter_rows, from_values, height_of, take
from vaultgraph.cypher.execute.pattern_runner import PlannedPatterns
from vaultgraph.cypher.execute.scalar import compile_scalar
from vaultgraph.cypher.query import run_query
from vaultgraph.cypher.syntax import Expression, Return
from vaultgraph.cypher.values import NodeRef, PathRef, RelationshipRef
from vaultgraph.errors import BudgetError, EvaluationError
from vaultgraph.graph.columns import VARIANT, Column, Segment
from vaultgraph.graph.csr import build_csr
from vaultgraph.graph.facts import Facts
from vaultgraph.graph.graph import Graph, NodeGroup, RelationshipTable

NO_STATISTICS = Statistics(Facts(Graph(0, (), {}, {})))

Evaluating = Callable[..., BoundColumn]


def table(name: str, first: int, pairs: list[tuple[int, int]], columns: Mapping[str, Column]) -> RelationshipTable:
    sources = np.array([one for one, _ in pairs], dtype=np.uint32)
    targets = np.array([other for _, other in pairs], dtype=np.uint32)
    return RelationshipTable(
        name, first, sources, targets, build_csr(sources, targets), build_csr(targets, sources), columns
    )


@pytest.fixture
def graph() -> Graph:
    """Nodes 0–2 are people (also notes), 3–4 plain notes, 5 a tag."""
    ages = [
        {"kind": 2, "number": 41, "real": None, "text": None},
        {"kind": 1, "number": None, "real": None, "text": "unknown"},
        {"kind": 3, "number": None, "real": 6.5, "text": None},
    ]
    columns = {
        "title": Column((Segment(0, pl.Series(["Ada", "Bob", "Cy", "Plan", "Log", "maths"])),)),
        "age": Column((Segment(0, pl.Series(ages, dtype=VARIANT)),)),
        "born": Column((Segment(0, pl.Series([date(1815, 12, 10), None, date(2001, 5, 1)])),)),
        "rank": Column((Segment(0, pl.Series([1, 2, None])), Segment(3, pl.Series([7, 8])))),
        "size": Column((Segment(0, pl.Series([1, 2, 3])), Segment(3, pl.Series([0.5, 1.5])))),
        "tags": Column((Segment(0, pl.Series([["a", "b"], [], None])), Segment(3, pl.Series([[], []])))),
    }
    relationships = {
        "KNOWS": table("KNOWS", 0, [(0, 1), (0, 2)], {"since": Column((Segment(0, pl.Series([2001, 2002])),))}),
        "TAGGED": table("TAGGED", 2, [(3, 5)], {"line": Column((Segment(0, pl.Series([3])),))}),
    }
    groups = (NodeGroup(("Person", "Note"), 0, 3), NodeGroup(("Note",), 3, 5), NodeGroup(("Tag",), 5, 6))
    return Graph(6, groups, columns, relationships)


@pytest.fixture
def context(graph: Graph) -> Callable[[str], Context]:
    def run(text: str) -> Context:
        parameters = {"wanted": [1, 7], "name": "Ada"}
        return Context(
            graph,
            parameters,
            text,
            Budget(),
            datetime(2026, 1, 15, tzinfo=UTC),
            PlannedPatterns({}, NO_STATISTICS),
        )

    return run


def parsed(text: str) -> Expression:
    clause = parse(text).parts[0].clauses[0]
    assert isinstance(clause, Return)
    return clause.projection.items[0].expression


@pytest.fixture
def column(context: Callable[[str], Context]) -> Evaluating:
    """The column of an expression; checks that the row path gives the same values."""

    def run(text: str, **columns: BoundColumn) -> BoundColumn:
        query = f"RETURN {text}"
        here, expression = context(query), parsed(query)
        height = height_of(next(iter(columns.values()))) if columns else 1
        found = evaluate(expression, Bindings(height, columns), here)
        assert height_of(found) == height
        cells = {name: column_values(one) for name, one in columns.items()}
        by_row = compile_scalar(expression, here)
        expected = [by_row({name: values[row] for name, values in cells.items()}) for row in range(height)]
        assert column_values(found) == expected
        return found

    return run


def nodes(*ids: int) -> NodeColumn:
    return NodeColumn(np.array(ids, dtype=np.int64))


def relationships(*ids: int) -> RelationshipColumn:
    return RelationshipColumn(np.array(ids, dtype=np.int64))


@pytest.mark.parametrize(
    ("text", "dtype", "expected"),
    [
        ("n.title", pl.String(), ["Log", "Ada", None]),
        ("n.rank", pl.Int64(), [8, 1, None]),
        ("n.born", pl.Date(), [None, date(1815, 12, 10), None]),
        ("n.born.year", pl.Int64(), [None, 1815, None]),
        ("n.tags", pl.List(pl.String()), [[], ["a", "b"], None]),
        ("n['title']", pl.String(), ["Log", "Ada", None]),
        ("n.nothing", pl.Null(), [None, None, None]),
        ("n.rank + 1", pl.Int64(), [9, 2, None]),
        ("n:Person", pl.Boolean(), [False, True, None]),
        ("n:Note&!Person", pl.Boolean(), [True, False, None]),
        ("labels(n)", pl.List(pl.String()), [["Note"], ["Person", "Note"], None]),
        ("id(n)", pl.Int64(), [4, 0, None]),
        ("outDegree(n)", pl.Int64(), [0, 2, None]),
        ("degree(n, 'KNOWS')", pl.Int64(), [0, 2, None]),
        ("inDegree(n)", pl.Int64(), [0, 0, None]),
        ("size(n.tags)", pl.Int64(), [0, 2, None]),
        ("'a' IN n.tags", pl.Boolean(), [False, True, None]),
        ("n IS NULL", pl.Boolean(), [False, False, True]),
        ("n.title STARTS WITH 'A'", pl.Boolean(), [False, True, None]),
        ("n.title = $name", pl.Boolean(), [False, True, None]),
        ("n.rank IN $wanted", pl.Boolean(), [False, True, None]),
    ],
)
def test_nodes_answer_with_typed_columns(
    column: Evaluating, text: str, dtype: pl.DataType, expected: list[object]
) -> None:
    found = column(text, n=nodes(4, 0, -1))
    assert isinstance(found, ValueColumn)
    assert found.series.dtype == dtype
    assert found.series.to_list() == expected


def test_cells_of_different_type_keep_their_own(column: Evaluating) -> None:
    assert column_values(column("n.age", n=nodes(0, 1, 2))) == [41, "unknown", 6.5]
    assert column_values(column("n.age > 40", n=nodes(0, 1, 2))) == [True, None, False]
    assert column_values(column("n.size", n=nodes(0, 3, 5))) == [1, 0.5, None]
    assert isinstance(column("n.size", n=nodes(0, 3)), ObjectColumn)


def test_rows_of_one_type_of_a_mixed_property_are_typed(column: Evaluating) -> None:
    found = column("n.age", n=nodes(0, 0, 5))
    assert isinstance(found, ValueColumn)
    assert found.series.to_list() == [41, 41, None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("r.since", [2002, None, None]),
        ("r.line", [None, 3, None]),
        ("type(r)", ["KNOWS", "TAGGED", None]),
        ("startNode(r)", [NodeRef(0), NodeRef(3), None]),
        ("endNode(r).title", ["Cy", "maths", None]),
        ("r:KNOWS", [True, False, None]),
        ("id(r)", [1, 2, None]),
        ("properties(r)", [{"since": 2002}, {"line": 3}, None]),
        ("r {.*, kind: type(r)}", [{"since": 2002, "kind": "KNOWS"}, {"line": 3, "kind": "TAGGED"}, None]),
    ],
)
def test_relationships_answer_across_types(column: Evaluating, text: str, expected: list[object]) -> None:
    assert column_values(column(text, r=relationships(1, 2, -1))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("keys(n)", [["title", "rank", "size", "tags"], ["title"]]),
        ("properties(n).title", ["Plan", "maths"]),
        ("n {.title, more: n.rank + 1}", [{"title": "Plan", "more": 8}, {"title": "maths", "more": None}]),
        ("n {.*}.rank", [7, None]),
        ("[n, 1][0].title", ["Plan", "maths"]),
        ("[x IN [n] | x.title]", [["Plan"], ["maths"]]),
        ("{a: n}.a = n", [True, True]),
        ("elementId(n)", ["3", "5"]),
    ],
)
def test_whole_nodes(column: Evaluating, text: str, expected: list[object]) -> None:
    assert column_values(column(text, n=nodes(3, 5))) == expected


def test_nodes_are_compared_by_identity(column: Evaluating) -> None:
    assert column_values(column("n = m", n=nodes(1, 2, -1), m=nodes(1, 3, 1))) == [True, False, None]
    assert column_values(column("n <> m", n=nodes(1, 2, -1), m=nodes(1, 3, 1))) == [False, True, None]
    assert column_values(column("n < m", n=nodes(1, 2), m=nodes(1, 3))) == [None, None]
    assert column_values(column("n = r", n=nodes(1, 2), r=relationships(1, -1))) == [False, None]


def test_paths_give_their_parts(column: Evaluating) -> None:
    paths = from_values([PathRef((0, 1), (0,)), None])
    assert column_values(column("length(p)", p=paths)) == [1, None]
    assert column_values(column("[x IN nodes(p) | x.title]", p=paths)) == [["Ada", "Bob"], None]
    assert column_values(column("relationships(p)[0].since", p=paths)) == [2001, None]


def test_items_are_evaluated_with_the_outer_row(column: Evaluating) -> None:
    lists = from_values([[1, 5, None], [], None])
    assert column_values(column("[x IN l WHERE x > k | x * k]", l=lists, k=from_values([2, 2, 2]))) == [[10], [], None]
    assert column_values(column("any(x IN l WHERE x > k)", l=lists, k=from_values([9, 9, 9]))) == [None, False, None]
    assert column_values(column("single(x IN l WHERE x IS NULL)", l=lists)) == [True, False, None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CASE WHEN x <> 0 THEN 10 / x ELSE -1 END", [5, -1, -1]),
        ("CASE x WHEN 2 THEN 'two' WHEN 0 THEN 'none' END", ["two", "none", None]),
        ("x <> 0 AND 10 / x > 1", [True, False, None]),
        ("x = 0 OR 10 / x > 9", [False, True, None]),
        ("coalesce(x, 1 / y)", [2, 0, 1]),
    ],
)
def test_parts_that_do_not_matter_are_not_worked_out(column: Evaluating, text: str, expected: list[object]) -> None:
    assert column_values(column(text, x=from_values([2, 0, None]), y=from_values([0, 0, 1]))) == expected


def test_operators_fall_back_to_rows_and_stay_exact(column: Evaluating) -> None:
    big = 2**53
    assert column_values(column("x = y", x=from_values([big + 1, 1]), y=from_values([float(big), 1.0]))) == [
        False,
        True,
    ]
    assert column_values(column("x * y", x=from_values([2**40, 3]), y=from_values([2**22, 3]))) == [2**62, 9]
    assert column_values(column("x + y", x=from_values(["a", None]), y=from_values([1, 2]))) == ["a1", None]
    assert column_values(column("x + 1", x=from_values([[1], [2]]))) == [[1, 1], [2, 1]]
    assert column_values(column("x % y", x=from_values([-7, 7]), y=from_values([2, -2]))) == [-1, 1]


def test_chained_comparisons_are_a_conjunction(column: Evaluating) -> None:
    assert column_values(column("1 < x <= 3", x=from_values([1, 2, 3, 4, None]))) == [False, True, True, False, None]


def test_membership_of_nodes_and_mixed_lists(column: Evaluating) -> None:
    several = ObjectColumn([[NodeRef(1), NodeRef(2)], [NodeRef(1), None], []])
    assert column_values(column("n IN l", n=nodes(2, 2, 2), l=several)) == [True, None, False]
    assert column_values(column("x IN [1, 2.0, 'a', null]", x=from_values([2, 3, None]))) == [True, None, None]
    assert column_values(column("x IN []", x=from_values([2, None]))) == [False, False]
    assert column_values(column("x IN [[1]]", x=from_values([[1], [2]]))) == [True, False]


def test_many_mixed_rows_go_through_kernels_type_by_type(column: Evaluating) -> None:
    cells = ObjectColumn([41, "41", 6.5, None, True, date(2026, 1, 1)] * 20)
    assert column_values(column("x > 40", x=cells)) == [True, None, False, None, None, None] * 20
    assert (
        column_values(column("x = y", x=cells, y=ObjectColumn([41.0, 41, None, 1, True, "a"] * 20)))
        == [
            True,
            False,
            None,
            None,
            True,
            False,
        ]
        * 20
    )
    assert column_values(column("toString(x)", x=cells))[:5] == ["41", "41", "6.5", None, "true"]
    lists = ObjectColumn([[1], None, "a"] * 20)
    assert column_values(column("size(x)", x=lists)) == [1, None, 1] * 20


def test_a_long_list_beside_many_rows_is_searched_by_hash(column: Evaluating) -> None:
    wanted: list[object] = [*range(10), 2.5, "a", math.nan, NodeRef(3), True]
    asked = ObjectColumn([3.0, "a", "b", math.nan, NodeRef(3), None, 1, False, [1]])
    lists = ObjectColumn([wanted] * 9)
    assert column_values(column("x IN l", x=asked, l=lists)) == [
        True,
        True,
        False,
        False,
        True,
        None,
        True,
        False,
        False,
    ]
    with_null = ObjectColumn([[*wanted, None]] * 9)
    assert column_values(column("x IN l", x=asked, l=with_null)) == [
        True,
        True,
        None,
        None,
        True,
        None,
        True,
        None,
        None,
    ]


def test_a_long_list_is_shared_not_copied_beside_many_rows() -> None:
    collected = from_values([list(range(50_000))])
    beside = take(collected, np.zeros(1000, dtype=np.int64))
    assert isinstance(beside, ObjectColumn)
    assert beside.values[0] is beside.values[999]


@pytest.mark.parametrize("rows", [0, 1, 8_192, 8_193, 20_000])
def test_long_columns_of_lists_give_all_their_cells_in_order(rows: int) -> None:
    lists = [list(range(number % 4)) if number % 7 else None for number in range(rows)]
    column = ValueColumn(pl.Series(lists, dtype=pl.List(pl.Int64)))
    assert column_values(column) == lists


def test_a_regular_expression_matches_the_whole_text(column: Evaluating) -> None:
    texts = from_values(["abc", "ABC", "abcd", "abc\n", None])
    assert column_values(column("x =~ 'ab.'", x=texts)) == [True, False, False, False, None]
    assert column_values(column("x =~ '(?i)abc|x'", x=texts)) == [True, True, False, False, None]
    assert column_values(column("x =~ y", x=texts, y=from_values(["a.*"] * 5))) == [True, False, True, False, None]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x =~ '('", "unclosed group"),
        ("x =~ 'a)|(b'", "cannot be used"),
        ("x =~ '(?!a).*'", "look-around"),
        ("x =~ '(a)\\\\1'", "back-reference"),
        ("x =~ 'a{1000}{1000}'", "too large"),
    ],
)
def test_expressions_that_could_run_for_ever_are_refused(column: Evaluating, text: str, words: str) -> None:
    with pytest.raises(EvaluationError, match=words):
        column(text, x=from_values(["a"]))


@pytest.mark.parametrize(
    ("text", "part", "words"),
    [
        ("1 + n.rank / 0", "n.rank / 0", "Division by zero"),
        ("n.title - 1", "n.title - 1", "- does not work on STRING and INTEGER"),
        ("n.rank * 9223372036854775807", "n.rank * 9223372036854775807", "overflow"),
        ("NOT n.title", "NOT n.title", "NOT needs true, false or null, not STRING"),
        ("n.title AND true", "n.title AND true", "AND needs"),
        ("1 IN n.title", "1 IN n.title", "IN needs a list"),
        ("n.title[0]", "n.title[0]", "not STRING"),
        ("n.tags['a']", "n.tags['a']", "index must be INTEGER"),
        ("n.rank.more", "n.rank.more", "INTEGER has no properties"),
        ("[x IN n.rank | x]", "[x IN n.rank | x]", "needs a list, not INTEGER"),
        ("toUpper(n.rank)", "toUpper(n.rank)", "toUpper() needs STRING as argument 1"),
        ("CASE WHEN n.rank THEN 1 END", "n.rank", "must be true, false or null, not INTEGER"),
        ("$missing", "$missing", "$missing was not given"),
    ],
)
def test_errors_show_the_part_at_fault(context: Callable[[str], Context], text: str, part: str, words: str) -> None:
    query = f"RETURN {text}"
    with pytest.raises(EvaluationError) as caught:
        evaluate(parsed(query), Bindings(2, {"n": nodes(0, 1)}), context(query))
    assert words in caught.value.reason
    assert query[caught.value.start : caught.value.end] == part


def test_without_rows_nothing_is_worked_out(context: Callable[[str], Context]) -> None:
    query = "RETURN n.rank / 0"
    assert height_of(evaluate(parsed(query), Bindings(0, {"n": nodes()}), context(query))) == 0
    kept = evaluate(parsed("RETURN n"), Bindings(0, {"n": nodes()}), context(query))
    assert isinstance(kept, NodeColumn)


def test_constants_are_worked_out_without_rows(context: Callable[[str], Context]) -> None:
    assert evaluate_constant(parsed("RETURN 2 * size($wanted)"), context("")) == 4


def test_a_cancelled_query_stops_inside_a_row_loop(graph: Graph) -> None:
    cancelled = Event()
    cancelled.set()
    here = Context(
        graph,
        {},
        "",
        Budget(cancelled=cancelled),
        datetime.now(UTC),
        PlannedPatterns({}, NO_STATISTICS),
    )
    with pytest.raises(BudgetError):
        evaluate(parsed("RETURN {a: x}"), Bindings(2, {"x": from_values([1, 2])}), here)


def test_only_true_rows_are_kept() -> None:
    assert filter_rows(from_values([True, False, None]), "", (0, 0)).tolist() == [True, False, False]
    assert filter_rows(ObjectColumn([None, True]), "", (0, 0)).tolist() == [False, True]
    assert filter_rows(from_values([None, None]), "", (0, 0)).tolist() == [False, False]
    with pytest.raises(EvaluationError, match="INTEGER"):
        filter_rows(from_values([1]), "RETURN 1", (7, 8))


def test_relationship_references_unpack_to_ids() -> None:
    found = from_values([RelationshipRef(3), None])
    assert isinstance(found, RelationshipColumn)
    assert found.ids.tolist() == [3, -1]


@pytest.mark.parametrize("part", ["", ".", "a.b", "(", "\\", "\n", "^x", "x$", "é", "[[", "x" * 2000])
def test_contains_takes_every_character_as_itself(part, make_graph):
    texts = ["", "a.b", "axb", "(x)", "\\", "l\nm", "^x$", "é", "[[N]]", "x" * 3000]
    graph = make_graph([(["T"], {"text": text}) for text in texts], [])
    rows = run_query(graph, "MATCH (t) WHERE t.text CONTAINS $part RETURN t.text", {"part": part}).rows
    assert [text for (text,) in rows] == [text for text in texts if part in text]
