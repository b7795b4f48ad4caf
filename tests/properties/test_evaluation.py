"""The column path and the row path give the same for random columns and expressions; so do aggregates."""

import math
from datetime import UTC, date, datetime

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.execute.bindings import Bindings, BoundColumn, ObjectColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.evaluate import evaluate
from vaultgraph.cypher.execute.fetch import (
    column_values,
    concat,
    from_values,
    take,
)
from vaultgraph.cypher.execute.grouping import group_codes, sort_order
from vaultgraph.cypher.execute.pattern_runner import PlannedPatterns
from vaultgraph.cypher.execute.scalar import compile_scalar
from vaultgraph.cypher.functions.aggregate_rows import aggregate
from vaultgraph.cypher.syntax import (
    Binary,
    Case,
    Comparison,
    Expression,
    FunctionCall,
    Index,
    IsNull,
    ListComprehension,
    ListLiteral,
    Literal,
    Property,
    Quantifier,
    Reduce,
    Slice,
    Unary,
    Variable,
)
from vaultgraph.cypher.values import group_key, order_key
from vaultgraph.errors import EvaluationError
from vaultgraph.graph.facts import Facts
from vaultgraph.graph.graph import Graph

NO_STATISTICS = Statistics(Facts(Graph(0, (), {}, {})))

AGREEMENT = settings(deadline=None)  # a busy machine is no failure
NOW = datetime(2026, 1, 15, 10, 30, tzinfo=UTC)
INTEGERS = st.integers(-4, 4) | st.sampled_from([2**53 + 1, 2**62, -(2**63), 2**63 - 1])
FLOATS = st.sampled_from([-1.5, -0.0, 0.0, 0.5, 1.0, 2.0, 1e300, float(2**53), math.inf, -math.inf, math.nan])
TEXTS = st.text("abA é1", max_size=3)
DATES = st.dates(date(2025, 12, 28), date(2026, 1, 5))
COLUMNS: dict[str, st.SearchStrategy[object]] = {
    "i": INTEGERS,
    "j": INTEGERS,
    "f": FLOATS,
    "s": TEXTS,
    "t": TEXTS,
    "b": st.booleans(),
    "c": st.booleans(),
    "d": DATES,
    "li": st.lists(st.none() | st.integers(-2, 2), max_size=3),
    "ls": st.lists(st.none() | TEXTS, max_size=3),
    "m": INTEGERS | FLOATS | TEXTS | st.booleans() | DATES | st.lists(st.integers(-2, 2), max_size=2),
    "z": st.none(),
}


def call(name: str, *arguments: Expression) -> Expression:
    return FunctionCall(name, arguments)


def names(*allowed: str) -> st.SearchStrategy[Expression]:
    return st.sampled_from([Variable(name) for name in allowed])


def number(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    one = names("i", "j", "f", "m", "z") | st.builds(Literal, INTEGERS | FLOATS | st.none())
    either = one | inner
    return (
        one
        | st.builds(Binary, st.sampled_from(["+", "-", "*", "/", "%", "^"]), either, either)
        | st.builds(Unary, st.sampled_from(["-", "+"]), either)
        | st.builds(call, st.sampled_from(["abs", "ceil", "floor", "sqrt", "sign", "toInteger", "toFloat"]), either)
        | st.builds(Index, names("li"), one)
        | st.builds(lambda part: call("size", part), names("s", "li", "ls", "m"))
        | st.builds(Property, names("d"), st.sampled_from(["year", "week", "dayOfWeek", "dayOfQuarter"]))
        | st.builds(
            lambda start, step: Reduce("a", start, "x", Variable("li"), Binary("+", Variable("a"), step)), one, either
        )
    )


def text(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    one = names("s", "t", "m") | st.builds(Literal, TEXTS | st.none())
    return (
        one
        | st.builds(Binary, st.sampled_from(["+", "||"]), one, one | inner)
        | st.builds(call, st.sampled_from(["toUpper", "toLower", "trim", "ltrim", "rtrim", "reverse"]), one)
        | st.builds(lambda part: call("toString", part), one | inner)
        | st.builds(call, st.just("substring"), one, st.builds(Literal, st.integers(-1, 3)))
        | st.builds(call, st.just("replace"), one, one, st.just(Literal("x")))
        | st.builds(call, st.sampled_from(["head", "last"]), names("ls"))
    )


def condition(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    operators = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
    value = names(*COLUMNS) | st.builds(Literal, INTEGERS | FLOATS | TEXTS | st.booleans() | st.none()) | inner
    truth = names("b", "c", "z") | st.builds(Literal, st.booleans() | st.none())
    literals = st.lists(st.builds(Literal, INTEGERS | FLOATS | TEXTS | st.none()), max_size=3)
    item_test = st.builds(lambda op, part: Comparison(Variable("x"), ((op, part),)), operators, value)
    return (
        truth
        | st.builds(
            lambda first, rest: Comparison(first, tuple(rest)),
            value,
            st.lists(st.tuples(operators, value), min_size=1, max_size=2),
        )
        | st.builds(Binary, st.sampled_from(["AND", "OR", "XOR"]), truth | inner, truth | inner)
        | st.builds(Unary, st.just("NOT"), truth | inner)
        | st.builds(IsNull, value, st.booleans())
        | st.builds(Binary, st.sampled_from(["STARTS WITH", "ENDS WITH", "CONTAINS"]), value, value)
        | st.builds(
            Binary, st.just("=~"), names("s", "m"), st.builds(Literal, st.sampled_from(["a.*", "(?i)a", "[ab]+"]))
        )
        | st.builds(Binary, st.just("IN"), value, names("li", "ls", "z"))
        | st.builds(lambda left, items: Binary("IN", left, ListLiteral(tuple(items))), value, literals)
        | st.builds(
            Quantifier,
            st.sampled_from(["all", "any", "none", "single"]),
            st.just("x"),
            names("li", "ls"),
            item_test,
        )
    )


def anything(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return (
        number(inner)
        | text(inner)
        | condition(inner)
        | st.builds(
            lambda when, then, other: Case(None, ((when, then),), other), condition(inner), inner, st.none() | inner
        )
        | st.builds(lambda subject, when, then: Case(subject, ((when, then),), None), inner, inner, inner)
        | st.builds(lambda *parts: call("coalesce", *parts), inner, inner)
        | st.builds(lambda *parts: ListLiteral(parts), inner, inner)
        | st.builds(lambda part: Slice(Variable("ls"), part, None), st.builds(Literal, st.integers(-3, 3)))
        | st.builds(
            lambda where, made: ListComprehension("x", Variable("li"), where, made),
            st.none() | st.builds(lambda part: Comparison(Variable("x"), (("<", part),)), names("i", "f", "m")),
            st.none() | st.builds(lambda part: Binary("+", Variable("x"), part), inner),
        )
    )


EXPRESSIONS = st.recursive(names(*COLUMNS) | st.builds(Literal, st.integers(-2, 2)), anything, max_leaves=6)
ROWS = st.lists(
    st.fixed_dictionaries({name: st.none() | cells for name, cells in COLUMNS.items()}), min_size=1, max_size=6
)


def context() -> Context:
    return Context(Graph(0, (), {}, {}), {}, "", Budget(), NOW, PlannedPatterns({}, NO_STATISTICS))


def bindings_of(rows: list[dict[str, object]]) -> Bindings:
    return Bindings(len(rows), {name: from_values([row[name] for row in rows]) for name in COLUMNS})


def shown(value: object) -> str:
    """A text that tells 1, 1.0 and true apart, but not one NaN from another."""
    return repr(value)


@settings(AGREEMENT, max_examples=200)
@given(EXPRESSIONS, ROWS, st.sampled_from([1, 20]))
def test_columns_and_rows_agree(expression: Expression, rows: list[dict[str, object]], repeats: int) -> None:
    here = context()
    rows = rows * repeats  # many rows take other ways than few
    by_row: list[str] | None
    try:
        run = compile_scalar(expression, here)
        by_row = [shown(run(row)) for row in rows]
    except EvaluationError:
        by_row = None
    by_column: list[str] | None
    try:
        by_column = [shown(value) for value in column_values(evaluate(expression, bindings_of(rows), here))]
    except EvaluationError:
        by_column = None
    assert by_column == by_row


MIXED = st.none() | COLUMNS["m"]
KINDS = st.sampled_from(list(COLUMNS.values()))
CELLS = KINDS.flatmap(lambda kind: st.lists(st.none() | kind, max_size=8))


def both(values: list[object]) -> list[BoundColumn]:
    """The narrowest column and the widest one."""
    return [from_values(values), ObjectColumn(values)]


@settings(AGREEMENT)
@given(CELLS)
def test_columns_keep_their_values(values: list[object]) -> None:
    assert shown(column_values(from_values(values))) == shown(values)


@settings(AGREEMENT)
@given(CELLS, st.randoms(use_true_random=False))
def test_taking_rows_is_indexing(values: list[object], random: "np.random.Generator") -> None:
    positions = [random.randrange(-1, len(values)) for _ in range(5)] if values else [-1, -1]  # type: ignore[attr-defined]
    taken = take(from_values(values), np.array(positions, dtype=np.int64))
    assert shown(column_values(taken)) == shown([values[one] if one >= 0 else None for one in positions])


@settings(AGREEMENT)
@given(CELLS, CELLS)
def test_stacking_is_adding_lists(first: list[object], second: list[object]) -> None:
    assert shown(column_values(concat([from_values(first), from_values(second)]))) == shown(first + second)


@settings(AGREEMENT)
@given(st.lists(st.tuples(MIXED, st.none() | INTEGERS, st.none() | FLOATS), max_size=8))
def test_grouping_follows_group_keys(rows: list[tuple[object, object, object]]) -> None:
    columns = [from_values([row[place] for row in rows]) for place in range(3)]
    codes, first_rows = group_codes(columns, len(rows), Budget())
    keys = [tuple(group_key(cell) for cell in row) for row in rows]
    expected: dict[object, int] = {}
    assert codes.tolist() == [expected.setdefault(key, len(expected)) for key in keys]
    assert first_rows.tolist() == [keys.index(key) for key in expected]


@settings(AGREEMENT)
@given(CELLS, st.booleans())
def test_sorting_is_stable_and_follows_order_keys(values: list[object], descending: bool) -> None:
    for column in both(values):
        order = sort_order([column], [descending], len(values), Budget()).tolist()
        assert order == sorted(range(len(values)), key=lambda row: order_key(values[row]), reverse=descending) or (
            descending and order == descending_order(values)
        )


def descending_order(values: list[object]) -> list[int]:
    """Descending by key, equal keys in their first order."""
    keys = [order_key(value) for value in values]
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return sorted(range(len(values)), key=lambda row: -ranks[keys[row]])


@settings(AGREEMENT)
@given(
    st.sampled_from(["count", "min", "max", "collect", "sum", "avg"]),
    st.booleans(),
    st.sampled_from([INTEGERS, FLOATS.filter(math.isfinite), st.integers(-3, 3) | st.sampled_from([0.5, 1.0])]).flatmap(
        lambda kind: st.lists(st.none() | kind, max_size=8)
    ),
)
def test_aggregates_of_typed_and_mixed_columns_agree(name: str, distinct: bool, values: list[object]) -> None:
    groups = np.arange(len(values), dtype=np.int64) % 3
    answers: list[object] = []
    for column in both(values):
        try:
            made = column_values(aggregate(name, distinct, column, [], groups, 4, context(), (0, 0)))
            answers.append([None if one is None else group_key(one) for one in made])
        except EvaluationError as error:
            answers.append(error.reason)
    assert answers[0] == answers[1]
