"""Records and graph in one file: exact, deterministic, and never half loaded."""

import random
import struct
from dataclasses import fields, replace
from datetime import UTC, date, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vaultgraph.errors import CorruptKglError, ForeignKglError, KglError, KglVersionError
from vaultgraph.files.stamps import ALIASES, FILE_PROBLEMS, STAMPS, Stamps
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.store import Stored, load, save, with_mtimes
from vaultgraph.kgl.reader import open_kgl
from vaultgraph.kgl.writer import write_sections
from vaultgraph.note.records import SCHEMAS, RecordTable, ValueKind

PATHS = ["A/Faults.md", "A/Note.canvas", "B/Rivers.md", "Home.md", "Ähre.md"]
BODIES = ["body of faults, long enough not to be inlined", None, "", "home body that is long as well", "kurz"]


def sample_records() -> RecordTable:
    rows = {
        "notes": [
            (path, bytes([number]) * 16, 10 + number, path.endswith("canvas"), number == 2, path[:-3], body, 1 + number)
            for number, (path, body) in enumerate(zip(PATHS, BODIES, strict=True))
        ],
        "properties": [(0, "age", -1, 2, 7, None, None, 3), (3, "tags", 0, 1, None, None, "ü", 2)],
        "links": [
            (0, 4, 1, False, "Home", None, "there", None, None, "Top", None, None),
            (3, 9, 4, True, "", "Part", None, 100, 50, None, "PART_OF", "up"),
        ],
        "tags": [(4, 2, "a/b", True)],
        "headings": [(0, 4, 1, "Top")],
        "blocks": [(3, 9, "b1")],
        "pieces": [
            (3, 5, 1, "#Top", -1, -1, 0, 1, "Top", "text", None, None, None, None, None, None),
            (3, 6, 7, "#Top~a", 0, 0, 0, None, None, None, None, None, "b1", None, 1, 0),
        ],
        "cells": [(3, 1, "name", "a", 6)],
        "problems": [(2, None, "not-utf8", "warning", "odd bytes")],
    }
    frames = {name: pl.DataFrame(rows[name], schema=schema, orient="row") for name, schema in SCHEMAS.items()}
    return RecordTable(**frames)


def note_of(number: int, **more) -> dict[str, object]:
    path = PATHS[number]
    return {
        "path": path,
        "file_path": path,
        "title": path[:-3],
        "body": BODIES[number],
        "size_bytes": 10 + number,
    } | more


def sample_nodes() -> list:
    return [
        (("Note",), note_of(3, id="Home", rating=4)),
        (("Fault", "Note"), note_of(0, id="Faults", rating="high", when=date(1911, 1, 2), list=["a", "b"])),
        (("Note",), note_of(4, id="Ähre", rating=2.5, flag=True)),
        (("Concept",), {"id": "Granite", "title": "Granite"}),
        ((), {}),
        (("Attachment", "Canvas"), {"path": PATHS[1], "id": "c", "title": "other title"}),
        (("Image",), {"path": "x.png", "id": "x", "seen": datetime(2020, 1, 2, 3, 4, 5)}),
    ]


def sample_relationships() -> list:
    return [
        (0, "LINKS_TO", 1, {"line": 4, "section": "Top"}),
        (0, "LINKS_TO", 1, {"line": 9}),
        (2, "LINKS_TO", 0, {}),
        (1, "LINKS_TO", 3, {"line": 1}),
        (3, "LINKS_TO", 3, {}),
        (0, "PART_OF", 6, {}),
    ]


PROBLEMS = pl.DataFrame([("Home.md", 3, "dangling", "info", "x")], schema=FILE_PROBLEMS, orient="row")


def assert_same_graph(one: Graph, other: Graph) -> None:
    assert (one.node_count, one.groups) == (other.node_count, other.groups)
    assert_same_columns(one.node_columns, other.node_columns)
    assert list(one.relationships) == list(other.relationships)
    for left, right in zip(one.relationships.values(), other.relationships.values(), strict=True):
        assert (left.type, left.first) == (right.type, right.first)
        assert_same_columns(left.columns, right.columns)
        for name in ("sources", "targets"):
            assert_same_array(getattr(left, name), getattr(right, name))
        for name in ("outgoing", "incoming"):
            assert getattr(left, name).first == getattr(right, name).first
            for part in ("offsets", "neighbours", "rows"):
                assert_same_array(getattr(getattr(left, name), part), getattr(getattr(right, name), part))


def assert_same_array(one: np.ndarray, other: np.ndarray) -> None:
    assert one.dtype == other.dtype
    assert one.tolist() == other.tolist()


def assert_same_columns(one, other) -> None:
    assert list(one) == list(other)
    for key in one:
        assert [segment.first for segment in one[key].segments] == [segment.first for segment in other[key].segments]
        for left, right in zip(one[key].segments, other[key].segments, strict=True):
            assert left.series.dtype == right.series.dtype
            assert left.series.to_list() == right.series.to_list()


def assert_same_records(one: RecordTable, other: RecordTable) -> None:
    for name, frame in one.tables().items():
        assert frame.schema == other.tables()[name].schema
        assert frame.rows() == other.tables()[name].rows()


@pytest.fixture
def content(make_graph):
    return {
        "records": sample_records(),
        "graph": make_graph(sample_nodes(), sample_relationships()),
        "problems": PROBLEMS,
        "counts": {"dangling_links": 2, "zero": 0},
        "inputs_hash": bytes(range(16)),
        "configuration": {".kglite/vault.yaml": "kglite_vault: 1\n"},
        "version": "1.2.3",
    }


@pytest.fixture
def place(tmp_path, content):
    save(tmp_path / "graph.kgl", **content)
    return tmp_path / "graph.kgl"


def test_everything_comes_back(place, content):
    stored = load(place)
    assert_same_records(stored.records, content["records"])
    assert_same_graph(stored.graph, content["graph"])
    assert stored.problems.equals(PROBLEMS)
    assert (stored.counts, stored.inputs_hash, stored.configuration, stored.version) == (
        content["counts"],
        content["inputs_hash"],
        content["configuration"],
        content["version"],
    )
    assert {field.name for field in fields(Stored)} == set(content)


def test_equal_input_gives_equal_bytes_whatever_the_memory_looks_like(tmp_path, place, content):
    again = load(place)
    save(tmp_path / "again.kgl", **{field.name: getattr(again, field.name) for field in fields(Stored)})
    assert (tmp_path / "again.kgl").read_bytes() == place.read_bytes()
    records = RecordTable(
        **{
            name: pl.concat([frame, frame, frame], rechunk=False).slice(frame.height, frame.height)
            for name, frame in sample_records().tables().items()
        }
    )
    save(tmp_path / "third.kgl", **content | {"records": records})
    assert (tmp_path / "third.kgl").read_bytes() == place.read_bytes()


def test_texts_of_notes_are_in_the_file_once(place):
    data = place.read_bytes()
    assert data.count(BODIES[0].encode()) == 1
    assert data.count(BODIES[3].encode()) == 1


def test_the_body_column_is_the_very_body_of_the_records(tmp_path, content, make_graph):
    nodes = [(("Note",), note_of(number)) for number in range(5)]
    save(tmp_path / "x", **content | {"graph": make_graph(nodes, [])})
    stored = load(tmp_path / "x")
    (segment,) = stored.graph.node_columns["body"].segments
    assert address_of(segment.series) == address_of(stored.records.notes["body"])
    assert segment.series.to_list() == BODIES


def address_of(series: pl.Series) -> int:
    return series.to_arrow(compat_level=pl.CompatLevel.newest()).buffers()[2].address


def test_a_body_that_differs_from_the_records_is_kept_as_it_is(tmp_path, content, make_graph):
    nodes = [(("Note",), note_of(0) | {"body": "rewritten"}), (("Note",), note_of(3))]
    save(tmp_path / "x", **content | {"graph": make_graph(nodes, [])})
    assert load(tmp_path / "x").graph.node_columns["body"].segments[0].series.to_list() == ["rewritten", BODIES[3]]


def test_an_empty_vault_is_a_file_too(tmp_path, content, make_graph):
    empty = {name: schema.to_frame() for name, schema in SCHEMAS.items()}
    save(tmp_path / "x", **content | {"records": RecordTable(**empty), "graph": make_graph([], []), "counts": {}})
    stored = load(tmp_path / "x")
    assert stored.graph == Graph(0, (), {}, {})
    assert stored.records.notes.schema == SCHEMAS["notes"]


VALUES = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["a", "ü" * 20, ""]) | st.just(2.5)
LABELS = st.lists(st.sampled_from(["A", "B", "Ö"]), unique=True, max_size=2)
KEYS = st.sampled_from(["k", "title", "ключ", "body"])
NODES = st.lists(st.tuples(LABELS, st.dictionaries(KEYS, VALUES, max_size=3)), min_size=1, max_size=8)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), nodes=NODES)
def test_any_graph_comes_back_and_gives_the_same_bytes_again(tmp_path, content, make_graph, data, nodes):
    ids = st.integers(0, len(nodes) - 1)
    relationship = st.tuples(ids, st.sampled_from(["R", "S_T"]), ids, st.dictionaries(KEYS, VALUES, max_size=2))
    nodes = [
        (labels, properties | ({"path": PATHS[number]} if number < len(PATHS) and number % 2 else {}))
        for number, (labels, properties) in enumerate(nodes)
    ]
    graph = make_graph(nodes, data.draw(st.lists(relationship, max_size=10)))
    save(tmp_path / "x", **content | {"graph": graph})
    stored = load(tmp_path / "x")
    assert_same_graph(stored.graph, graph)
    save(tmp_path / "y", **content | {"graph": stored.graph})
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()


def test_modification_times_are_attached_after_loading_and_never_stored(tmp_path, place, content):
    stamps = Stamps(
        pl.DataFrame(
            [("Home.md", 1, 1_700_000_000_123_456_789, 0, 0), ("x.png", 2, 0, 0, 0), ("other.md", 3, 5, 0, 0)],
            schema=STAMPS,
            orient="row",
        ),
        [],
        ALIASES.to_frame(),
        FILE_PROBLEMS.to_frame(),
    )
    graph = with_mtimes(load(place).graph, stamps)
    times = {
        segment.first + row: value
        for segment in graph.node_columns["mtime"].segments
        for row, value in enumerate(segment.series)
        if value is not None
    }
    paths = {
        segment.first + row: value
        for segment in graph.node_columns["path"].segments
        for row, value in enumerate(segment.series)
    }
    assert {paths[node]: time for node, time in times.items()} == {
        "Home.md": datetime(2023, 11, 14, 22, 13, 20, 123456, UTC),
        "x.png": datetime(1970, 1, 1, tzinfo=UTC),
    }
    save(tmp_path / "x", **content | {"graph": graph})
    assert (tmp_path / "x").read_bytes() == place.read_bytes()
    nothing = replace(stamps, files=STAMPS.to_frame())
    assert_same_graph(with_mtimes(graph, nothing), content["graph"])


def test_a_file_cut_at_any_section_is_damaged(place):
    file = open_kgl(place)
    data = place.read_bytes()
    cuts = {section.offset for section in file._sections.values()} | {0, 8, 63, 64, len(data) - 1}
    for cut in sorted(cuts):
        place.write_bytes(data[:cut])
        with pytest.raises(CorruptKglError):
            load(place)


def test_a_flipped_bit_is_an_error_or_changes_nothing(place, content):
    data = place.read_bytes()
    random.seed(11)
    for position in random.sample(range(len(data) * 8), 500):
        flipped = bytearray(data)
        flipped[position // 8] ^= 1 << position % 8
        place.write_bytes(flipped)
        try:
            stored = load(place)
            stored.records.tables()  # the bodies too
        except KglError:
            continue
        assert_same_records(stored.records, content["records"])
        assert_same_graph(stored.graph, content["graph"])


def test_foreign_files_other_versions_and_folders_are_told_apart(tmp_path, place):
    (tmp_path / "folder").mkdir()
    (tmp_path / "foreign").write_bytes(b"RGF\3 another graph")
    for path in (tmp_path / "folder", tmp_path / "foreign"):
        with pytest.raises(ForeignKglError):
            load(path)
    data = bytearray(place.read_bytes())
    struct.pack_into("<I", data, 8, 99)
    place.write_bytes(data)
    with pytest.raises(KglVersionError):
        load(place)
    with pytest.raises(KglError, match="cannot be opened"):
        load(tmp_path / "nothing")
    write_sections(tmp_path / "other", [("a", b"x")], {"content": "other"})
    with pytest.raises(CorruptKglError):
        load(tmp_path / "other")


def test_a_place_that_cannot_be_written_is_an_error_of_ours(tmp_path, content, place):
    for path in (tmp_path / "nothing" / "x", place / "x"):
        with pytest.raises(KglError, match="cannot be written"):
            save(path, **content)
    assert [path.name for path in tmp_path.iterdir()] == ["graph.kgl"]
    load(place)


def test_what_vaultgraph_did_not_write_is_never_replaced(tmp_path, content, place):
    (tmp_path / "folder").mkdir()
    (tmp_path / "foreign").write_bytes(b"RGF\3 another graph")
    (tmp_path / "link").symlink_to(place)
    for name in ("folder", "foreign", "link"):
        with pytest.raises(ForeignKglError, match="left alone"):
            save(tmp_path / name, **content)
    assert (tmp_path / "foreign").read_bytes() == b"RGF\3 another graph"
    assert (tmp_path / "link").is_symlink()
    place.write_bytes(place.read_bytes()[:20])
    save(place, **content)
    load(place)


def rewritten(place, change) -> None:
    """Write the file again with right checksums after ``change(sections, meta)``."""
    file = open_kgl(place)
    sections = {name: bytes(file.section(name)) for name in file.names()}
    change(sections, file.meta)
    write_sections(place, sections.items(), file.meta)


def numbers(*values: int) -> bytes:
    return np.array(values, dtype="<u4").tobytes()


def put(path: str, value):
    """A change of meta: ``groups/0/1`` is the second item of the first group."""

    def change(sections, meta):
        *folders, last = path.split("/")
        for name in folders:
            meta = meta[int(name) if isinstance(meta, list) else name]
        meta[int(last) if isinstance(meta, list) else last] = value

    return change


def write(name: str, content: bytes):
    def change(sections, meta):
        assert name in sections
        sections[name] = content

    return change


def drop(path: str):
    def change(sections, meta):
        sections.pop(path, None)
        meta.pop(path, None)

    return change


LIES = [
    *(
        drop(key)
        for key in (
            "content",
            "counts",
            "version",
            "inputs_hash",
            "configuration",
            "rows",
            "node_count",
            "groups",
            "types",
        )
    ),
    *(drop(key) for key in ("columns", "nodes.note", "records.notes.path", "relationships.targets")),
    *(put(key, value) for key in ("rows", "groups", "types", "columns", "counts") for value in (None, 7, "x", [[1]])),
    *(put("node_count", value) for value in (-1, 6, 8, 2**40, 1.5, "7", True)),
    *(put("groups/0/1", value) for value in (-1, 1, 2**70, "0")),
    *(put("groups/0/2", value) for value in (0, 99, None)),
    *(put("groups/0/0", value) for value in ([1], [None], 5)),
    *(put("types/0/1", value) for value in (4, 6, -1, 2**50)),
    *(put("types/0/0", value) for value in (3, None, "PART_OF")),
    *(put("version", value) for value in (1, None)),
    *(put("inputs_hash", value) for value in ("zz", 5, None)),
    *(put("counts", value) for value in ({"a": "b"}, {"a": 1.5})),
    *(put("rows/records.notes", value) for value in (0, 4, 6, -1, 2**40)),
    *(put("columns/columns/0/0", value) for value in (-2, 9, "x", True)),
    *(put("columns/columns/0/1", value) for value in (7, "id", "title")),
    *(put("columns/columns/0/2", value) for value in (7, [[0, 1, "", 0]] * 2, [[0, 0, "", 0]], [[0, 99, "", 0]])),
    *(
        put("columns/columns/0/2/0", value)
        for value in ([0, 7, "", 0], [-1, 2, "", 0], [0, 1, "nope", 0], [0, 1, "text"])
    ),
    *(put("columns/columns/0/2/0", value) for value in ([0, 1, "text", 999], [0, 1, "text", -1], [0, 1, ["a"], 0])),
    *(put("columns/pools/text", value) for value in (0, 1, 99, None)),
    put("columns/pools/nothing", 1),
    write("nodes.note", numbers(9, 9, 9, 9, 9, 9, 9)),
    write("nodes.note", numbers(0)),
    write("relationships.sources", numbers(0, 0, 1, 3, 7, 9)),
    write("relationships.sources", numbers(1, 0, 1, 3, 3, 0)),
    write("relationships.targets", numbers(0, 0, 0)),
    write("records.links.note", numbers(3, 0)),
    write("records.links.note", numbers(0, 5)),
    write("records.links.syntax", b"\0\1"),
    write("records.links.syntax", b"\1\x09"),
    write("records.properties.kind", b"\2\x0a"),
    write("records.properties.kind", bytes((ValueKind.JSON, ValueKind.JSON))),  # ü is not JSON
    write("records.properties.kind", bytes((ValueKind.DATE, ValueKind.DATE))),  # null is no day
    write("pool.variant.kind", bytes((ValueKind.JSON + 1,) * 2)),
    write("pool.date", np.array([2**31 - 1], dtype="<i4").tobytes()),
    write("pool.local_datetime", np.array([2**63 - 1], dtype="<i8").tobytes()),
    write("records.notes.path", b"".join(sorted(path.encode() for path in PATHS))[::-1]),
]


@pytest.mark.parametrize("number", range(len(LIES)))
def test_a_file_whose_parts_contradict_each_other_is_damaged(place, number):
    rewritten(place, LIES[number])
    with pytest.raises(CorruptKglError):
        load(place)


@pytest.mark.parametrize(
    ("table", "key"), [("notes", "path"), ("links", "target"), ("tags", "note"), ("properties", "kind")]
)
def test_nulls_where_records_never_have_them_are_damage(place, table, key):
    def change(sections, meta):
        sections[f"records.{table}.{key}.valid"] = bytes((meta["rows"][f"records.{table}"] + 7) // 8)

    rewritten(place, change)
    with pytest.raises(CorruptKglError, match=r"nulls|wrong length"):
        load(place)


def test_a_mixed_column_with_gaps_and_times_comes_back(tmp_path, content, make_graph):
    values = (1, "x", None, date.max, date.min, True, 2.5)
    graph = make_graph([(("Note",), {"id": str(at), "mixed": value}) for at, value in enumerate(values)], [])
    save(tmp_path / "g.kgl", **content | {"graph": graph})
    assert_same_columns(load(tmp_path / "g.kgl").graph.node_columns, graph.node_columns)
