"""Pieces in a .kgl file: whole graphs come back, equal input gives equal bytes, and positions that lie are refused."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from vaultgraph.errors import CorruptKglError
from vaultgraph.files.stamps import FILE_PROBLEMS
from vaultgraph.graph.build import build_graph
from vaultgraph.graph.store import load, save
from vaultgraph.kgl.reader import open_kgl
from vaultgraph.kgl.writer import write_sections
from vaultgraph.note.records import PieceKind
from vaultgraph.profile.settings import Chunks, Profile, Reading, Sections, Structure, TableRule

PROFILE = Profile(
    types={"R": {"n": "int"}},
    reading=Reading(
        Structure(
            sections=Sections(),
            chunks=Chunks(),
            tables=(TableRule("x", "HAS", label="Row"), TableRule("y", "R", edges=True)),
            embed_text="{heading_path}: {text}",
        )
    ),
)


@pytest.fixture
def vault(of):
    pieces = [
        of(PieceKind.SECTION, "#A", level=1, title="A", text="a"),
        of(PieceKind.CHUNK, "#A~chunk1", parent=0, text="words"),
        of(PieceKind.ROW, "#A~row1", parent=0, rule=0, size=1),
        of(PieceKind.EDGE, "", parent=0, rule=1, size=1),
    ]
    rows = [{"target": "b", "type": "R", "line": 9}]
    note = {"pieces": pieces, "cells": [(2, "k", "v", 4), (3, "n", "1", 9)], "rows": rows, "links": ["[[b#A]]"]}
    return {"a.md": note, "b.md": {"pieces": pieces[:3]}}


@pytest.fixture
def keep(tmp_path, makers, with_pieces):
    """Save the records and the graph of a vault; ``change`` replaces frames of the records after the build."""

    def run(vault, name="x.kgl", **change: pl.DataFrame):
        records = with_pieces(makers[0](vault), vault)
        built = build_graph(records, makers[1](vault), PROFILE)
        save(
            tmp_path / name,
            records=replace(records, **{key: frame(records) for key, frame in change.items()}),
            graph=built.graph,
            problems=FILE_PROBLEMS.to_frame(),
            counts={},
            inputs_hash=b"",
            configuration={},
            version="1",
        )
        return tmp_path / name, built

    return run


def test_a_graph_with_pieces_comes_back(keep, vault):
    place, built = keep(vault)
    stored = load(place)
    assert stored.graph.groups == built.graph.groups
    for key, column in built.graph.node_columns.items():
        segments = stored.graph.node_columns[key].segments
        assert [(s.first, s.series.to_list()) for s in segments] == [
            (s.first, s.series.to_list()) for s in column.segments
        ]
    assert list(stored.graph.relationships) == list(built.graph.relationships)
    assert stored.graph.relationships["R"].columns["n"].segments[0].series.to_list() == [1]


def test_equal_vaults_with_pieces_give_equal_bytes(keep, vault):
    one, _ = keep(vault)
    other, _ = keep(dict(reversed(vault.items())), "y.kgl")
    assert one.read_bytes() == other.read_bytes()


def test_texts_of_pieces_are_in_the_file_once(keep, vault):
    text = "the words of a chunk that are long enough to be found"
    vault["a.md"]["pieces"][1] = vault["a.md"]["pieces"][1] | {"text": text}
    place, _ = keep(vault)
    # Once as it is, and once inside the rendered text.
    assert place.read_bytes().count(text.encode()) == 2
    (chunks, *_) = load(place).graph.node_columns["text"].segments
    assert chunks.series.to_list()[0] == text


@pytest.mark.parametrize("rows", [[9] * 8, [0] * 3])
def test_rows_of_pieces_that_are_not_there_are_damage(keep, vault, rows):
    place, _ = keep(vault)
    file = open_kgl(place)
    sections = {name: bytes(file.section(name)) for name in file.names()}
    assert len(sections["nodes.piece"]) == 4 * 8
    write_sections(place, (sections | {"nodes.piece": np.array(rows, dtype="<u4").tobytes()}).items(), file.meta)
    with pytest.raises(CorruptKglError):
        load(place)


def changed(table: str, at: int, **values: object):
    def change(records):
        frame = getattr(records, table)
        row = pl.int_range(pl.len()) == at
        columns = {
            key: pl.when(row).then(pl.lit(value, frame.schema[key])).otherwise(key) for key, value in values.items()
        }
        return frame.with_columns(**columns)

    return {table: change}


LIES = [
    changed("pieces", 1, parent=1),
    changed("pieces", 1, parent=-2),
    changed("pieces", 1, section=5),
    changed("pieces", 3, section=1),
    changed("pieces", 4, parent=0),
    changed("pieces", 0, level=None),
    changed("pieces", 0, level=7),
    changed("pieces", 2, rule=-1),
    changed("pieces", 2, rule=None),
    changed("pieces", 2, kind=10),
    changed("pieces", 3, kind=2, rule=0),
    changed("pieces", 1, fragment=None),
    changed("cells", 0, piece=-1),
    changed("cells", 0, piece=1),
    changed("cells", 1, piece=4),
    changed("cells", 1, note=1),
    {"links": lambda records: records.links.filter(pl.col("syntax") != 6)},
    {"pieces": lambda records: records.pieces.head(3)},
    {"pieces": lambda records: records.pieces.clear()},
]


@pytest.mark.parametrize("lie", LIES)
def test_positions_that_lead_out_of_a_note_are_damage(keep, vault, lie):
    place, _ = keep(vault, **lie)
    with pytest.raises(CorruptKglError, match="damaged"):
        load(place)


def test_an_untouched_file_is_not(keep, vault):
    place, _ = keep(vault, **changed("pieces", 2, rule=99))
    records = load(place).records
    assert records.pieces["rule"].to_list()[2] == 99


def test_a_rule_that_the_profile_has_not_makes_no_node(makers, with_pieces, vault):
    records = with_pieces(makers[0](vault), vault)
    odd = replace(records, **{key: frame(records) for key, frame in changed("pieces", 2, rule=99).items()})
    graph = build_graph(odd, makers[1](vault), PROFILE).graph
    assert [group.stop - group.first for group in graph.groups if group.labels == ("Row",)] == [1]


def test_pieces_that_hang_on_each_other_do_not_hang_a_build(makers, with_pieces, vault):
    records = with_pieces(makers[0](vault), vault)
    pieces = records.pieces.with_columns(parent=pl.lit(1, pl.Int32), section=pl.lit(2, pl.Int32))
    assert build_graph(replace(records, pieces=pieces), makers[1](vault), Profile()).graph.node_count == 2
