"""Small vaults on disk, and graphs made from plain lists without notes or files."""

import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest

from vaultgraph.graph.columns import VARIANT, Column, Segment
from vaultgraph.graph.csr import build_csr
from vaultgraph.graph.graph import Graph, NodeGroup, RelationshipTable
from vaultgraph.note.records import ValueKind

NodeSpec = tuple[Sequence[str], Mapping[str, object]]
RelationshipSpec = tuple[int, str, int, Mapping[str, object]]
Write = Callable[[Mapping[str, str | bytes]], Path]
MakeGraph = Callable[[Sequence[NodeSpec], Sequence[RelationshipSpec]], Graph]


@pytest.fixture(scope="session", autouse=True)
def own_cache_folder(tmp_path_factory: pytest.TempPathFactory):
    """What is kept about vaults on this machine goes to a folder of the tests' own, for child processes too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def _benchmark(name: str) -> ModuleType:
    """A module of benchmarks/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def plain_markdown() -> ModuleType:
    """The oracle of reading: what text markdown-it-py finds."""
    return _benchmark("plain_markdown")


@pytest.fixture(scope="session")
def odd_markdown() -> ModuleType:
    """Notes made to be misread."""
    return _benchmark("odd_markdown")


@pytest.fixture(scope="session")
def reading_fuzz() -> ModuleType:
    """Random notes under random names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
        return _benchmark("reading_fuzz")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder to be a vault."""
    root = tmp_path / "vault"
    root.mkdir()
    return root


@pytest.fixture
def write(folder: Path) -> Write:
    """Write files (path → text or bytes) into the vault folder, which is returned."""

    def write_files(files: Mapping[str, str | bytes]) -> Path:
        for path, content in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder

    return write_files


_DTYPES: dict[type, pl.DataType] = {
    bool: pl.Boolean(),
    int: pl.Int64(),
    float: pl.Float64(),
    str: pl.String(),
    date: pl.Date(),
    datetime: pl.Datetime("us"),
}


def build(nodes: Sequence[NodeSpec], relationships: Sequence[RelationshipSpec]) -> Graph:
    """Nodes are (labels, properties), relationships (source, type, target, properties) by position in ``nodes``."""
    sets = list(dict.fromkeys(tuple(labels) for labels, _ in nodes))
    order = sorted(range(len(nodes)), key=lambda number: sets.index(tuple(nodes[number][0])))
    new_id = {old: new for new, old in enumerate(order)}
    groups: list[NodeGroup] = []
    for labels in sets:
        size = sum(tuple(other) == labels for other, _ in nodes)
        first = groups[-1].stop if groups else 0
        groups.append(NodeGroup(labels, first, first + size))
    spans = [(group.first, group.stop) for group in groups]
    columns = columns_of([nodes[old][1] for old in order], spans)
    tables: dict[str, RelationshipTable] = {}
    first = 0
    for name in dict.fromkeys(kind for _, kind, _, _ in relationships):
        rows = [(new_id[a], new_id[b], data) for a, kind, b, data in relationships if kind == name]
        rows.sort(key=lambda row: row[:2])
        sources = np.array([row[0] for row in rows], dtype=np.uint32)
        targets = np.array([row[1] for row in rows], dtype=np.uint32)
        tables[name] = RelationshipTable(
            name,
            first,
            sources,
            targets,
            build_csr(sources, targets),
            build_csr(targets, sources),
            columns_of([row[2] for row in rows], [(0, len(rows))]),
        )
        first += len(rows)
    return Graph(len(nodes), tuple(groups), columns, tables)


def columns_of(records: Sequence[Mapping[str, object]], spans: Sequence[tuple[int, int]]) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for key in dict.fromkeys(key for record in records for key in record):
        segments = []
        for start, stop in spans:
            values = [record.get(key) for record in records[start:stop]]
            if any(value is not None for value in values):
                segments.append(Segment(start, series_of(values)))
        columns[key] = Column(tuple(segments))
    return columns


def series_of(values: Sequence[object]) -> pl.Series:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) == 1:
        kind = kinds.pop()
        if kind in _DTYPES:
            return pl.Series(values, dtype=_DTYPES[kind])
        items = {type(item) for value in values if isinstance(value, list) for item in value}
        if len(items) == 1 and (item := items.pop()) in _DTYPES:
            return pl.Series(values, dtype=pl.List(_DTYPES[item]))
    return pl.Series([variant(value) for value in values], dtype=VARIANT)


def variant(value: object) -> dict[str, object] | None:
    cell: dict[str, object] = {"kind": None, "number": None, "real": None, "text": None}
    match value:
        case None:
            return None
        case bool():
            return cell | {"kind": ValueKind.BOOLEAN, "number": int(value)}
        case int():
            return cell | {"kind": ValueKind.INTEGER, "number": value}
        case float():
            return cell | {"kind": ValueKind.FLOAT, "real": value}
        case str():
            return cell | {"kind": ValueKind.TEXT, "text": value}
        case []:
            return cell | {"kind": ValueKind.EMPTY_LIST}
        case date():
            return cell | {"kind": ValueKind.DATE, "number": (value - date(1970, 1, 1)).days}
        case _:
            return cell | {"kind": ValueKind.JSON, "text": json.dumps(value)}


@pytest.fixture(scope="session")
def make_graph() -> MakeGraph:
    return build
