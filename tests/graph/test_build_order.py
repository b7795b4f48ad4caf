"""A graph depends on what the records state, never on how they came together."""

import itertools

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.graph.build import build_graph
from vaultgraph.graph.built import Built
from vaultgraph.note.records import RecordTable, merge_records, without_paths
from vaultgraph.profile.settings import Hub, Profile

PATHS = ["a.md", "b/B.md", "b.md", "b/c.md", "d/e/F.md", "d/B.md", "ö/Ö.md"]
LINKS = [
    "[[B]]",
    "[[b/c|x]]",
    "![[F]]",
    "[m](../a.md)",
    "![[p.png]]",
    "[[gone]]",
    "https://e.org",
    "up: [[a]]",
    "[[AL]]",
]
VALUES = [1, "1", ["x", 2], True, 2.5, []]

contents = st.fixed_dictionaries(
    {
        "links": st.lists(st.sampled_from(LINKS), max_size=4),
        "tags": st.lists(st.sampled_from(["t", "T", "t/u", "v"]), max_size=3),
        "props": st.dictionaries(
            st.sampled_from(["k", "type", "aliases", "by", "path"]), st.sampled_from(VALUES), max_size=3
        ),
        "title": st.sampled_from(["T", "AL", "gone"]),
        "skip": st.sampled_from([False, False, False, True]),
    }
)
vaults = st.dictionaries(st.sampled_from(PATHS), contents, min_size=1, max_size=6)
PROFILE = Profile(hubs={"by": Hub("P", "BY")}, types={"Note": {"k": "int"}})


def dump(built: Built) -> dict[str, object]:
    """Everything a build gives, as Python values."""
    graph = built.graph

    def columns(found: dict) -> dict[str, object]:
        return {
            key: [(s.first, str(s.series.dtype), s.series.to_list()) for s in c.segments] for key, c in found.items()
        }

    tables = {
        name: (
            t.first,
            t.sources.tolist(),
            t.targets.tolist(),
            t.outgoing.rows.tolist(),
            t.incoming.rows.tolist(),
            columns(t.columns),
        )
        for name, t in graph.relationships.items()
    }
    return {
        "groups": graph.groups,
        "nodes": columns(graph.node_columns),
        "relationships": tables,
        "problems": built.problems.rows(),
        "counts": built.counts,
    }


@given(vaults, st.randoms(use_true_random=False))
@settings(max_examples=12, deadline=None)
def test_any_order_of_merging_gives_the_same_graph(makers, vault, random):
    make_records, make_stamps = makers
    files = {**vault, "img/p.png": 3}
    stamps = make_stamps(files)
    whole = dump(build_graph(make_records(files), stamps, PROFILE))
    paths = list(vault)
    random.shuffle(paths)
    merged: RecordTable | None = None
    for path in paths:
        part = make_records({path: vault[path]})
        merged = part if merged is None else merge_records(merged, part)
    assert merged is not None
    assert dump(build_graph(merged, stamps, PROFILE)) == whole
    again = merge_records(without_paths(merged, paths[:2]), make_records({path: vault[path] for path in paths[:2]}))
    assert dump(build_graph(again, stamps, PROFILE)) == whole


def test_building_twice_gives_the_same_columns(makers):
    make_records, make_stamps = makers
    vault = {
        path: {"links": LINKS, "tags": ["t/u", "T"], "props": {"k": value}}
        for path, value in zip(PATHS, itertools.cycle(VALUES))
    }
    records, stamps = make_records(vault), make_stamps(vault)
    first = dump(build_graph(records, stamps, PROFILE))
    assert all(dump(build_graph(records, stamps, PROFILE)) == first for _ in range(3))


def test_every_column_is_indexed_by_ids_that_exist(makers):
    make_records, make_stamps = makers
    vault = {path: {"links": LINKS, "props": {"k": value}} for path, value in zip(PATHS, VALUES, strict=False)}
    graph = build_graph(make_records(vault), make_stamps(vault), PROFILE).graph
    for column in graph.node_columns.values():
        assert all(s.first >= 0 and s.stop <= graph.node_count and len(s.series) for s in column.segments)
        assert all(left.stop <= right.first for left, right in itertools.pairwise(column.segments))
    first = 0
    for name, table in graph.relationships.items():
        assert (table.type, table.first) == (name, first)
        first = table.stop
        assert all(len(s.series) == len(table.sources) for c in table.columns.values() for s in c.segments)
    assert first == graph.relationship_count
    allowed = {pl.String, pl.Int64, pl.Boolean}
    dtypes = {s.series.dtype for t in graph.relationships.values() for c in t.columns.values() for s in c.segments}
    assert {type(dtype) for dtype in dtypes} <= allowed
