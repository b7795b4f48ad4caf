"""Moments and durations in the cells of an answer, as text, JSON and CSV."""

from datetime import UTC, date, datetime

import pytest

from vaultgraph.cypher.durations import Duration
from vaultgraph.cypher.temporals import FarDate, LocalDateTime, LocalTime, Time, ZonedDateTime
from vaultgraph.serve.cells import csv_cell, json_cell, text_cell

NOON = 12 * 3600 * 1_000_000_000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (date(2024, 7, 1), "2024-07-01"),
        (datetime(2024, 7, 1, 12, tzinfo=UTC), "2024-07-01T12:00:00Z"),
        (LocalTime(NOON), "12:00"),
        (Time(NOON + 1, 3600), "12:00:00.000000001+01:00"),
        (LocalDateTime(0, NOON + 1), "1970-01-01T12:00:00.000000001"),
        (ZonedDateTime(0, NOON, 3600, "Europe/Berlin"), "1970-01-01T12:00+01:00[Europe/Berlin]"),
        (FarDate(-800_000), "-0221-09-04"),
        (Duration(14, -1, 90), "P1Y2M-1DT1M30S"),
    ],
)
def test_every_moment_is_its_iso_text(value: object, text: str) -> None:
    assert text_cell(value) == text
    assert json_cell(value) == text
    assert csv_cell(value) == text
    assert json_cell({"at": [value]}) == {"at": [text]}
    assert text_cell([value]) == f"[{text}]"


def test_a_text_that_looks_like_a_moment_is_quoted() -> None:
    for text in ("12:00", "12:00+01:00", "1970-01-01T12:00+01:00[Europe/Berlin]", "P1D"):
        assert text_cell(text) == f'"{text}"'
