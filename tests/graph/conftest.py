"""Records from short descriptions, and the answers of a graph as plain Python.

A vault is a dict from path to what a note states (a dict), or to a size in bytes for any other file. Links are written
as in a note (`[[T#A|text]]`, `![[T]]`, `[text](T#A "TYPE")`, `https://…`), `key: [[T]]` for a property link, and
`card T` in a canvas; the line of a link is its position, 1-based, and ``under X`` starts a section.
"""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import PurePosixPath

import numpy as np
import polars as pl
import pytest

from vaultgraph.files.stamps import Stamps, problem_frame
from vaultgraph.graph.build import build_graph
from vaultgraph.graph.built import Built
from vaultgraph.graph.columns import gather
from vaultgraph.graph.graph import Graph
from vaultgraph.note.records import SCHEMAS, LinkSyntax, RecordTable, ValueKind
from vaultgraph.profile.settings import Profile

_WIKI = re.compile(
    r"^(?P<key>[\w .-]+: )?(?P<embed>!?)\[\[(?P<target>[^\]|#]*)(#(?P<anchor>[^\]|]*))?(\|(?P<text>[^\]]*))?\]\]$"
)
_MARKDOWN = re.compile(
    r'^(?P<embed>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)#"]*?)(#(?P<anchor>[^)"]*?))?( "(?P<type>[^"]*)")?\)$'
)
_EPOCH = dt.date(1970, 1, 1)


def link_fields(text: str) -> dict[str, object]:
    """One link of the records, from how it is written."""
    if text.startswith("card "):
        return {"syntax": LinkSyntax.CANVAS, "target": text[5:]}
    if text.startswith("http"):
        return {"syntax": LinkSyntax.URL, "target": text}
    if found := _WIKI.match(text):
        key = found["key"]
        return {
            "syntax": LinkSyntax.FRONTMATTER if key else LinkSyntax.WIKILINK,
            "is_embed": bool(found["embed"]),
            "target": found["target"],
            "anchor": found["anchor"],
            "display": found["text"],
            "property": key[:-2] if key else None,
        }
    found = _MARKDOWN.match(text)
    assert found, text
    return {
        "syntax": LinkSyntax.URL if found["target"].startswith("http") else LinkSyntax.MARKDOWN,
        "is_embed": bool(found["embed"]),
        "target": found["target"],
        "anchor": found["anchor"],
        "display": found["text"] or None,
        "type": found["type"],
    }


def cell_fields(value: object) -> dict[str, object]:
    """One property cell of the records."""
    match value:
        case bool():
            return {"kind": ValueKind.BOOLEAN, "number": int(value)}
        case int():
            return {"kind": ValueKind.INTEGER, "number": value}
        case float():
            return {"kind": ValueKind.FLOAT, "real": value}
        case dt.datetime():
            zone = dt.UTC if value.tzinfo else None
            micros = (value - dt.datetime(1970, 1, 1, tzinfo=zone)) // dt.timedelta(microseconds=1)
            return {"kind": ValueKind.UTC_DATETIME if zone else ValueKind.LOCAL_DATETIME, "number": micros}
        case dt.date():
            return {"kind": ValueKind.DATE, "number": (value - _EPOCH).days}
        case _:
            return {"kind": ValueKind.TEXT, "text": str(value)}


def make_records(vault: Mapping[str, object]) -> RecordTable:
    """The records of the notes and canvases of a vault described in Python."""
    rows: dict[str, list[dict[str, object]]] = {name: [] for name in SCHEMAS}
    stated = sorted((path, what) for path, what in vault.items() if isinstance(what, dict))
    for note, (path, what) in enumerate(stated):
        _add_note(rows, note, path, what)
    frames = {name: pl.DataFrame(rows[name], schema=schema) for name, schema in SCHEMAS.items()}
    return RecordTable(**frames)


def _add_note(rows: dict[str, list[dict[str, object]]], note: int, path: str, what: dict[str, object]) -> None:
    body = str(what.get("body", ""))
    rows["notes"].append(
        {
            "path": path,
            "hash": blake2b(path.encode(), digest_size=16).digest(),
            "size_bytes": len(body),
            "is_canvas": path.endswith(".canvas"),
            "is_skipped": bool(what.get("skip")),
            "title": str(what.get("title") or PurePosixPath(path).stem),
            "body": None if path.endswith(".canvas") else body,
            "body_line": 1,
        }
    )
    section = None
    for line, text in enumerate(what.get("links", []), start=1):
        if text.startswith("under "):
            section = text[6:]
            continue
        defaults = {"note": note, "line": line, "is_embed": False, "section": section}
        rows["links"].append(defaults | link_fields(text))
    for line, (key, value) in enumerate(dict(what.get("props", {})).items(), start=2):
        cells = list(enumerate(value)) if isinstance(value, list) else [(-1, value)]
        if value == []:
            rows["properties"].append(
                {"note": note, "key": key, "ordinal": -1, "kind": ValueKind.EMPTY_LIST, "line": line}
            )
            continue
        for ordinal, cell in cells:
            rows["properties"].append({"note": note, "key": key, "ordinal": ordinal, "line": line} | cell_fields(cell))
    for line, tag in enumerate(what.get("tags", []), start=1):
        rows["tags"].append({"note": note, "line": line, "tag": tag, "is_inline": True})
    for text in what.get("headings", []):
        rows["headings"].append({"note": note, "line": 1, "level": 1, "text": text})
    for name in what.get("blocks", []):
        rows["blocks"].append({"note": note, "line": 1, "id": name})
    for code in what.get("problems", []):
        rows["problems"].append({"note": note, "line": None, "code": code, "severity": "info", "message": code})


def make_stamps(vault: Mapping[str, object], aliases: Mapping[str, str] | None = None) -> Stamps:
    """The stat pass of a vault described in Python."""
    sizes = {path: what if isinstance(what, int) else len(str(what.get("body", ""))) for path, what in vault.items()}
    folders = {str(up) for path in vault for up in PurePosixPath(path).parents} - {"."}
    files = pl.DataFrame(
        {"path": sorted(sizes), "size_bytes": [sizes[path] for path in sorted(sizes)], "mtime_ns": [1] * len(sizes)},
        schema={"path": pl.String, "size_bytes": pl.Int64, "mtime_ns": pl.Int64},
    )
    linked = pl.DataFrame(
        {"path": sorted(aliases or {}), "target": [(aliases or {})[path] for path in sorted(aliases or {})]},
        schema={"path": pl.String, "target": pl.String},
    )
    return Stamps(files=files, folders=sorted(folders), aliases=linked, problems=problem_frame([]))


@dataclass(frozen=True)
class Answers:
    """A built graph, asked in plain Python. Nodes are named by path, or by ``Label:id`` where they have none."""

    built: Built

    @property
    def graph(self) -> Graph:
        return self.built.graph

    def cells(self, key: str) -> list[object]:
        """One property of every node; lists and variants as Python values."""
        return _cells(self.graph.node_columns.get(key), self.graph.node_count)

    def names(self) -> list[str]:
        """The name of every node, by id."""
        labels = [group.labels[0] for group in self.graph.groups for _ in range(group.first, group.stop)]
        ids, paths = self.cells("id"), self.cells("path")
        named = zip(labels, ids, paths, strict=True)
        return [str(path) if path and label != "Folder" else f"{label}:{name}" for label, name, path in named]

    def labels(self, name: str) -> tuple[str, ...]:
        """The labels of one node."""
        node = self.names().index(name)
        return next(group.labels for group in self.graph.groups if group.first <= node < group.stop)

    def properties(self, name: str) -> dict[str, object]:
        """The properties of one node that are not null."""
        node = self.names().index(name)
        found = {key: self.cells(key)[node] for key in self.graph.node_columns}
        return {key: value for key, value in found.items() if value is not None}

    def relationships(self, kind: str | None = None, *keys: str) -> list[tuple[object, ...]]:
        """(source, type, target, *properties) of every relationship, sorted; without type where ``kind`` names one."""
        names = self.names()
        rows: list[tuple[object, ...]] = []
        for table in self.graph.relationships.values():
            if kind not in (None, table.type):
                continue
            asked = [_cells(table.columns.get(key), len(table.sources)) for key in keys]
            for row, (source, target) in enumerate(zip(table.sources, table.targets, strict=True)):
                ends = (names[source], names[target]) if kind else (names[source], table.type, names[target])
                rows.append((*ends, *(column[row] for column in asked)))
        return sorted(rows, key=repr)

    def problems(self, code: str) -> list[tuple[str, int | None]]:
        """(path, line) of the problems with ``code``."""
        return self.built.problems.filter(pl.col("code") == code).select("path", "line").rows()


def _cells(column: object, count: int) -> list[object]:
    values: list[object] = [None] * count
    for part in gather(column, np.arange(count, dtype=np.int64)):  # type: ignore[arg-type]
        rows = range(count) if part.rows is None else part.rows.tolist()
        for row, value in zip(rows, part.series.to_list(), strict=True):
            values[row] = _plain(value) if isinstance(value, dict) else value
    return values


def _plain(cell: dict[str, object]) -> object:
    match cell["kind"]:
        case 0:
            return None
        case ValueKind.TEXT:
            return cell["text"]
        case ValueKind.JSON:
            return f"json {cell['text']}"
        case ValueKind.FLOAT:
            return cell["real"]
        case ValueKind.BOOLEAN:
            return bool(cell["number"])
        case ValueKind.DATE:
            return _EPOCH + dt.timedelta(days=int(str(cell["number"])))
        case _:
            return cell["number"]


Builder = Callable[..., Answers]


@pytest.fixture
def build() -> Builder:
    """Build a described vault: ``build({path: what}, profile=…, aliases=…)``."""

    def run(
        vault: Mapping[str, object], profile: Profile | None = None, aliases: Mapping[str, str] | None = None
    ) -> Answers:
        return Answers(build_graph(make_records(vault), make_stamps(vault, aliases), profile or Profile()))

    return run


@pytest.fixture(scope="session")
def makers() -> tuple[Callable[..., RecordTable], Callable[..., Stamps]]:
    """The builders of records and of the stat pass of a described vault; for tests that run many vaults."""
    return make_records, make_stamps


@pytest.fixture(scope="session")
def answers_of() -> Callable[[Built], Answers]:
    """Asks a graph that was built elsewhere."""
    return Answers
