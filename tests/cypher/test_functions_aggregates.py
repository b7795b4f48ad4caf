"""Aggregates over groups of rows, typed and mixed."""

from collections.abc import Callable
from datetime import UTC, date, datetime

import numpy as np
import pytest

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.durations import Duration
from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.execute.bindings import ObjectColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.fetch import column_values, from_values
from vaultgraph.cypher.execute.pattern_runner import PlannedPatterns
from vaultgraph.cypher.functions.aggregate_rows import aggregate
from vaultgraph.cypher.functions.aggregates import AGGREGATES, find_aggregate
from vaultgraph.cypher.values import NodeRef
from vaultgraph.errors import EvaluationError
from vaultgraph.graph.facts import Facts
from vaultgraph.graph.graph import Graph

NO_STATISTICS = Statistics(Facts(Graph(0, (), {}, {})))

Aggregating = Callable[..., list[object]]


@pytest.fixture
def answers() -> Aggregating:
    """The aggregate of each of three groups: rows 0, 2 and 4 are group 0, rows 1 and 3 group 1, none group 2."""

    def run(
        name: str, values: list[object], *, distinct: bool = False, part: object = 0.5, mixed: bool = False
    ) -> list[object]:
        text = f"RETURN {name}(x)"
        context = Context(
            Graph(0, (), {}, {}),
            {},
            text,
            Budget(),
            datetime.now(UTC),
            PlannedPatterns({}, NO_STATISTICS),
        )
        groups = np.arange(len(values), dtype=np.int64) % 2
        column = ObjectColumn(values) if mixed else from_values(values)
        extra = [from_values([part] * len(values))]
        return column_values(aggregate(name, distinct, column, extra, groups, 3, context, (7, len(text))))

    return run


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("count", [2, 2, 0]),
        ("sum", [8, 4, 0]),
        ("avg", [4.0, 2.0, None]),
        ("min", [3, 2, None]),
        ("max", [5, 2, None]),
        ("collect", [[3, 5], [2, 2], []]),
        ("stDev", [pytest.approx(2**0.5), 0.0, None]),
        ("stDevP", [1.0, 0.0, None]),
        ("percentileDisc", [3, 2, None]),
        ("percentileCont", [4.0, 2.0, None]),
    ],
)
def test_typed_and_untyped_columns_give_the_same(
    answers: Aggregating, name: str, expected: list[object], mixed: bool
) -> None:
    assert answers(name, [3, 2, None, 2, 5], mixed=mixed) == expected


@pytest.mark.parametrize(
    ("name", "expected"), [("count", [2, 1, 0]), ("sum", [4, 2, 0]), ("collect", [[3, 1], [2], []])]
)
def test_distinct_takes_each_value_once(answers: Aggregating, name: str, expected: list[object]) -> None:
    assert answers(name, [3, 2, 1, 2, 3], distinct=True) == expected


def test_distinct_joins_1_and_1_0(answers: Aggregating) -> None:
    assert answers("collect", [1, None, 1.0], distinct=True) == [[1], [], []]


def test_mixed_numbers_add_up(answers: Aggregating) -> None:
    assert answers("sum", [1, 2, 2.5, 3]) == [3.5, 5, 0]
    assert answers("avg", [1, 2, 2.5, 3]) == [1.75, 2.5, None]


def test_min_and_max_follow_the_order_across_types(answers: Aggregating) -> None:
    assert answers("min", [1, None, "a", None, [1]]) == [[1], None, None]
    assert answers("max", [1, None, "a", None, [1]]) == [1, None, None]
    assert answers("max", [date(2026, 1, 1), "b", date(2026, 1, 2), "a"]) == [date(2026, 1, 2), "b", None]


def test_nodes_are_counted_and_collected(answers: Aggregating) -> None:
    rows: list[object] = [NodeRef(4), NodeRef(1), NodeRef(4), None]
    assert answers("count", rows) == [2, 1, 0]
    assert answers("count", rows, distinct=True) == [1, 1, 0]
    assert answers("collect", rows, distinct=True) == [[NodeRef(4)], [NodeRef(1)], []]


def test_durations_add_up(answers: Aggregating) -> None:
    assert answers("sum", [Duration(days=1), None, Duration(days=2)]) == [Duration(days=3), 0, 0]
    assert answers("avg", [Duration(days=1), None, Duration(days=3)]) == [Duration(days=2), None, None]


def test_a_sum_that_does_not_fit_is_an_error(answers: Aggregating) -> None:
    with pytest.raises(EvaluationError, match="overflow"):
        answers("sum", [2**62, 1, 2**62])
    assert answers("avg", [2**62, 1, 2**62]) == [float(2**62), 1.0, None]


@pytest.mark.parametrize("name", ["sum", "avg", "stDev", "stDevP", "percentileCont", "percentileDisc"])
def test_texts_cannot_be_added_up(answers: Aggregating, name: str) -> None:
    with pytest.raises(EvaluationError, match=f"{name}.*STRING") as caught:
        answers(name, ["a", "b"])
    assert (caught.value.start, caught.value.end) == (7, 10 + len(name))


@pytest.mark.parametrize(("part", "expected"), [(0.0, 10.0), (0.5, 20.0), (1.0, 30.0)])
def test_percentiles_reach_from_least_to_most(answers: Aggregating, part: float, expected: float) -> None:
    rows: list[object] = [30.0, None, 10.0, None, 20.0]
    assert answers("percentileDisc", rows, part=part)[0] == expected
    assert answers("percentileCont", rows, part=part)[0] == expected


def test_continuous_percentiles_lie_between_values(answers: Aggregating) -> None:
    assert answers("percentileCont", [10, None, 20, None], part=0.25)[0] == 12.5


@pytest.mark.parametrize("part", [-1, 1.1, 1000, "0.5"])
def test_percentiles_outside_zero_to_one_are_refused(answers: Aggregating, part: object) -> None:
    with pytest.raises(EvaluationError, match=r"0\.0 to 1\.0"):
        answers("percentileCont", [1, 2], part=part)


def test_no_rows_still_answer_for_every_group(answers: Aggregating) -> None:
    assert answers("count", []) == [0, 0, 0]
    assert answers("sum", []) == [0, 0, 0]
    assert answers("collect", []) == [[], [], []]
    assert answers("max", []) == [None, None, None]
    assert answers("percentileCont", []) == [None, None, None]


def test_aggregates_are_found_in_any_case() -> None:
    assert find_aggregate("PERCENTILECONT") is AGGREGATES["percentilecont"]
    assert find_aggregate("toLower") is None
