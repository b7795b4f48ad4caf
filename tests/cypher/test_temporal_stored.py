"""Moments and durations as properties: stored as kind and text, read back the same, refused where damaged."""

from datetime import UTC, date, datetime

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.cypher.durations import Duration, make_duration
from vaultgraph.cypher.entities import cells
from vaultgraph.cypher.query import run_query
from vaultgraph.cypher.stored_values import restored, stored
from vaultgraph.cypher.temporals import FarDate, LocalDateTime, LocalTime, Time, ZonedDateTime
from vaultgraph.cypher.zones import DAY, MOST_OFFSET
from vaultgraph.graph.cells import series_of
from vaultgraph.graph.columns import VARIANT, Column, Segment
from vaultgraph.graph.graph import Graph, NodeGroup
from vaultgraph.graph.mutable import Written
from vaultgraph.graph.schema import KIND_NAMES, Schema
from vaultgraph.graph.stored_cells import variant_fault
from vaultgraph.note.records import ValueKind

NANOSECONDS = st.integers(0, DAY - 1)
FAR = st.sampled_from([-800_000, 4_000_000, 365_000_000_000])
VALUES = st.one_of(
    st.builds(LocalTime, NANOSECONDS),
    st.builds(Time, NANOSECONDS, st.integers(-MOST_OFFSET, MOST_OFFSET)),
    st.builds(LocalDateTime, FAR, NANOSECONDS),
    st.builds(ZonedDateTime, st.integers(-30_000, 30_000), NANOSECONDS, st.sampled_from([3600, -5]), st.none()),
    st.builds(ZonedDateTime, FAR, NANOSECONDS, st.just(7200), st.sampled_from(["Europe/Berlin", "No/Such_Zone"])),
    st.builds(FarDate, FAR),
    st.builds(
        make_duration, st.integers(-(10**17), 10**17), st.integers(-(10**17), 10**17), st.integers(-(10**17), 10**17),
        NANOSECONDS,
    ),
)  # fmt: skip
PLAIN = st.sampled_from(
    [1, "a", True, 2.5, date(2024, 1, 1), datetime(2024, 1, 1), datetime(2024, 1, 1, 5, 0, 0, 7, UTC)]
)


def exactly(value: object) -> object:
    """A form in which nothing of a value is lost in comparing: two zones at one instant differ here."""
    if isinstance(value, list):
        return [exactly(item) for item in value]
    return type(value), str(value) if isinstance(value, datetime) else repr(value)


def graph_of(*values: object) -> Graph:
    """One node for each value, which is its property ``at``."""
    series = series_of([stored(value) for value in values])
    group = NodeGroup(("Note",), 0, len(values))
    return Graph(len(values), (group,), {"at": Column((Segment(0, series),))}, {})


@settings(deadline=None)
@given(st.lists(VALUES | PLAIN | st.lists(VALUES | PLAIN, min_size=1, max_size=3), min_size=1, max_size=5))
def test_what_is_stored_reads_back_the_same_and_is_not_taken_for_damaged(values: list[object]) -> None:
    series = series_of([stored(value) for value in values])
    assert exactly(cells(series)) == exactly(values)
    if series.dtype == VARIANT:
        assert variant_fault(*(series.struct.field(name) for name in ("kind", "number", "text"))) is None


def test_stored_moments_are_read_compared_and_taken_apart_by_queries() -> None:
    berlin = ZonedDateTime(18_998, 0, 3600, "Europe/Berlin")
    graph = graph_of(berlin, datetime(2022, 1, 7, tzinfo=UTC), Time(0, 3600), Duration(1), None)
    rows = run_query(graph, "MATCH (n) RETURN n.at ORDER BY n.at").rows
    assert [row for (row,) in rows] == [berlin, datetime(2022, 1, 7, tzinfo=UTC), Time(0, 3600), Duration(1), None]
    query = "MATCH (n) WHERE n.at < datetime('2022-01-07T00:00Z') RETURN n.at.timezone, toString(n.at)"
    assert run_query(graph, query).rows == [("Europe/Berlin", "2022-01-06T00:00+01:00[Europe/Berlin]")]
    assert run_query(graph, "MATCH (n) WHERE n.at = time('01:00+02:00') RETURN count(*)").rows == [(1,)]
    [[node]] = run_query(graph, "MATCH (n) WHERE n.at = duration('P1M') RETURN n").rows
    assert node.properties == {"at": Duration(1)}


def test_the_schema_names_their_types() -> None:
    assert set(KIND_NAMES) == set(ValueKind)
    [facts] = Schema(graph_of(Time(0, 0), LocalTime(0), Duration(1), FarDate(-800_000))).properties_of("Note")
    assert facts.types == ("DATE", "DURATION", "LOCAL TIME", "ZONED TIME")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (ValueKind.TIME, "12:00"),
        (ValueKind.TIME, "25:00Z"),
        (ValueKind.TIME, "12:00+19:00"),
        (ValueKind.TIME, "12:00Z\n"),
        (ValueKind.LOCAL_TIME, "12:60"),
        (ValueKind.LOCAL_TIME, ""),
        (ValueKind.LOCAL_TIME, None),
        (ValueKind.ZONED_DATETIME, "2024-01-01T12:00"),
        (ValueKind.ZONED_DATETIME, "2024-01-01T12:00Z[../../etc]"),
        (ValueKind.ZONED_DATETIME, "2023-02-29T12:00Z"),
        (ValueKind.LOCAL_DATETIME_NS, "2024-04-31T12:00"),
        (ValueKind.LOCAL_DATETIME_NS, "1900-02-29T12:00:00.000000001"),
        (ValueKind.FAR_DATE, "+1000000000-01-01"),
        (ValueKind.FAR_DATE, "-0001-13-01"),
        (ValueKind.DURATION, "P"),
        (ValueKind.DURATION, "P1DT"),
        (ValueKind.DURATION, "one day"),
        (ValueKind.DURATION, "P1000000000000000000D"),
        (ValueKind.LIST, "{}"),
        (ValueKind.LIST, "[[10]]"),
        (ValueKind.LIST, '[[10, "25:00Z"]]'),
        (ValueKind.LIST, '[[5, "2023-02-29"]]'),
        (ValueKind.LIST, '[[5, "+12023-02-28"]]'),
        (ValueKind.LIST, '[[6, "2023-02-28T12:00:00.5"]]'),
        (ValueKind.LIST, '[[9, "{"]]'),
        (ValueKind.LIST, '[[15, "[]"]]'),
        (ValueKind.LIST, '[[true, "1"]]'),
        (ValueKind.LIST, "[" * 100_000),
        (17, "x"),
    ],
)
def test_damaged_cells_are_found(kind: int, text: str | None) -> None:
    frame = pl.DataFrame(
        {"kind": [1, kind], "number": [None, None], "text": ["a", text]},
        schema={"kind": pl.UInt8, "number": pl.Int64, "text": pl.String},
    )
    assert variant_fault(frame["kind"], frame["number"], frame["text"]) is not None


@pytest.mark.parametrize("kind", list(ValueKind))
@pytest.mark.parametrize("text", ["", "x", "12:00", "[]"])
def test_any_text_of_any_kind_is_read_or_gives_null(kind: ValueKind, text: str) -> None:
    if kind != ValueKind.LIST or text == "[]":
        restored(kind, text)


def test_what_has_a_type_in_columns_stays_as_it_is() -> None:
    for value in (None, 1, "a", date(2024, 1, 1), datetime(2024, 1, 1), [1, "a"]):
        assert stored(value) == value
    assert stored([Time(0, 0)]) == [Written(ValueKind.TIME, "00:00Z")]
