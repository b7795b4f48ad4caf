"""A file keeps moments and durations that have no type in columns, refuses damaged ones, and notes state none."""

from pathlib import Path

import polars as pl
import pytest

from vaultgraph.errors import CorruptKglError
from vaultgraph.files.stamps import FILE_PROBLEMS
from vaultgraph.graph.cells import series_of
from vaultgraph.graph.columns import Column, Segment
from vaultgraph.graph.graph import Graph, NodeGroup
from vaultgraph.graph.mutable import Written
from vaultgraph.graph.store import Stored, load, save
from vaultgraph.note.records import SCHEMAS, RecordTable, ValueKind

NOTE = ("Home.md", bytes(16), 10, False, False, "Home", "", 1)


def kept(path: Path, series: pl.Series, *properties: tuple[object, ...]) -> Stored:
    """A file with nodes that have the values of ``series``, and a note that states ``properties``, read again."""
    rows: dict[str, list[tuple[object, ...]]] = {"notes": [NOTE], "properties": list(properties)}
    frames = {name: pl.DataFrame(rows.get(name, []), schema=schema, orient="row") for name, schema in SCHEMAS.items()}
    group = NodeGroup(("Note",), 0, len(series))
    save(
        path,
        records=RecordTable(**frames),
        graph=Graph(len(series), (group,), {"at": Column((Segment(0, series),))}, {}),
        problems=pl.DataFrame(schema=FILE_PROBLEMS),
        counts={},
        inputs_hash=bytes(16),
        configuration={},
        version="1",
    )
    return load(path)


def test_moments_come_back_as_they_were(tmp_path: Path) -> None:
    series = series_of(
        [
            Written(ValueKind.TIME, "12:00+01:00"),
            Written(ValueKind.ZONED_DATETIME, "2024-02-29T12:00:00.000000001+01:00[Europe/Berlin]"),
            Written(ValueKind.FAR_DATE, "-0044-03-15"),
            Written(ValueKind.DURATION, "P1Y2M-1DT1M30.5S"),
            [Written(ValueKind.LOCAL_TIME, "12:00"), 1, "a"],
            7,
        ]
    )
    [segment] = kept(tmp_path / "graph.kgl", series).graph.node_columns["at"].segments
    assert segment.series.to_list() == series.to_list()


@pytest.mark.parametrize(
    "value",
    [
        Written(ValueKind.TIME, "12:00"),
        Written(ValueKind.ZONED_DATETIME, "2023-02-29T12:00Z"),
        Written(ValueKind.DURATION, "soon"),
        [Written(ValueKind.LOCAL_TIME, "noon")],
    ],
)
def test_a_file_with_damaged_moments_is_refused(tmp_path: Path, value: object) -> None:
    with pytest.raises(CorruptKglError, match="cannot be read"):
        kept(tmp_path / "graph.kgl", series_of([value, 1]))


@pytest.mark.parametrize("kind", [kind for kind in ValueKind if kind > ValueKind.JSON])
def test_a_file_whose_notes_state_what_only_queries_make_is_refused(tmp_path: Path, kind: ValueKind) -> None:
    text = "[]" if kind == ValueKind.LIST else "P1D" if kind == ValueKind.DURATION else "2024-01-01T12:00Z"
    with pytest.raises(CorruptKglError):
        kept(tmp_path / "graph.kgl", series_of([1]), (0, "at", -1, int(kind), None, None, text, 1))
