"""Notes for what only the graph has: nodes without a note, and relationships no text states.

A node becomes a note with its properties as frontmatter; a relationship becomes a wikilink under a key named after its
type, or a row of a table where one is wanted for the type. Used by `vault`, which decides what is missing.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

import polars as pl

from vaultgraph.export.columns import items_of, plain_value, segment_values
from vaultgraph.export.frontmatter import KeyCells, front_text
from vaultgraph.export.notes import Additions, note_bytes
from vaultgraph.export.scalars import Cell, scalar_text
from vaultgraph.files.walk import PRUNED_NAMES, fold
from vaultgraph.graph.columns import VARIANT, Column
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.names import relationship_types
from vaultgraph.graph.shared import TAG, TAGGED
from vaultgraph.note.frontmatter import DATE, DATETIME, TEXT, days_of, implicit_kind
from vaultgraph.note.records import ValueKind
from vaultgraph.note.values import native
from vaultgraph.profile.settings import Profile

DERIVED: Final = frozenset({"Folder", TAG})
"""Labels of nodes that notes make by lying somewhere or naming something; they become no notes."""

_BUILT_IN: Final = frozenset(
    {"path", "file_path", "concept_id", "stem", "folder", "body", "size_bytes", "mtime", "mime", "title", "id"}
)
_RESERVED: Final = frozenset({"id", "type", "title", "name", "aliases", "tags", "parent", "cssclasses", "kg_skip"})
_UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f-\x9f\\/:*?"<>|#^\[\]\u2028\u2029]+')
_MOST_STEM_BYTES: Final = 120
_LINKABLE: Final = re.compile(r"[^\[\]|#^\r\n]+")


@dataclass(frozen=True, slots=True)
class Places:
    """Where nodes are written: ``notes`` path by node id of those that have or get a note, ``links`` how a wikilink
    names a node, ``tags`` the spelling of tags."""

    notes: Mapping[int, str]
    links: Mapping[int, str]
    tags: Mapping[int, str]


def places_of(graph: Graph, lonely: Sequence[int], taken: Sequence[str], note_label: str) -> Places:
    """``lonely``: ids of the nodes that no record makes; ``taken``: paths of files that are written anyway."""
    ids = range(graph.node_count)
    paths, names = (segment_values(graph.node_columns.get(key), ids) for key in ("path", "id"))
    used = {fold(path) for path in taken}
    alone = set(lonely)
    missing = segment_values(graph.node_columns.get("_provisional"), ids)
    notes: dict[int, str] = {}
    links: dict[int, str] = {}
    tags: dict[int, str] = {}
    # row loop: every node, once
    for group in graph.groups:
        for node in range(group.first, group.stop):
            path, name = paths[node], names[node]
            if TAG in group.labels:
                tags[node] = str(name)
            elif isinstance(path, str) and (path[-3:].lower() != ".md" or missing[node] is True):
                links[node] = path
            elif isinstance(path, str) and (node not in alone or fold(path) not in used):
                notes[node] = path
                links[node] = path[:-3]
                used.add(fold(path))
            elif missing[node] is True:
                links[node] = str(name)
            elif node in alone and not DERIVED & set(group.labels):
                notes[node] = _free_path(group.labels, note_label, name, node, used)
                links[node] = notes[node][:-3]
    return Places(notes, {node: text for node, text in links.items() if _LINKABLE.fullmatch(text)}, tags)


def _free_path(labels: Sequence[str], note_label: str, name: object, node: int, used: set[str]) -> str:
    """A path nobody has, from the label and the id of a node."""
    label = next((label for label in labels if label != note_label), note_label)
    stem = _safe(str(name)) if name is not None else str(node)
    path = f"{_safe(label)}/{stem}.md"
    if fold(path) in used:
        path = f"{_safe(label)}/{stem}~{node}.md"  # the node's number is in no other such name
    used.add(fold(path))
    return path


def _safe(name: str) -> str:
    """A name for a file or folder that every file system and every wikilink takes."""
    clean = _UNSAFE.sub("-", name).strip(" .") or "-"
    clean = clean.encode("utf-8", "replace")[:_MOST_STEM_BYTES].decode("utf-8", "ignore").strip(" .") or "-"
    return f"_{clean}" if clean in PRUNED_NAMES else clean


def graph_notes(
    graph: Graph, ids: Sequence[int], places: Places, profile: Profile, additions: Mapping[str, Additions]
) -> Iterator[tuple[str, bytes, frozenset[str]]]:
    """Path, bytes and keys of a note for each of ``ids``, which must have a place."""
    wanted = set(ids)
    # row loop: nodes without a note, with their properties
    for group in graph.groups:
        for node in sorted(wanted.intersection(range(group.first, group.stop))):
            path = places.notes[node]
            values = {key: _value(column, node) for key, column in sorted(graph.node_columns.items())}
            stated = list(_stated(path, group.labels, {k: v for k, v in values.items() if v is not None}, profile))
            more = additions.get(path, Additions())
            front = front_text([*stated, *more.keys], 1, {})
            body = values.get("body")
            text = body if isinstance(body, str) else ""
            yield path, note_bytes(front or "---\n---\n", text, more.after), frozenset(k.key for k in stated)


def _value(column: Column, node: int) -> Any:
    for segment in column.segments:
        if segment.first <= node < segment.stop:
            value = segment.series[node - segment.first]
            if segment.series.dtype == VARIANT and value is not None:
                return _from_variant(value)
            return value.to_list() if isinstance(value, pl.Series) else value
    return None


def _from_variant(cell: dict[str, Any]) -> Any:
    """A cell of its own kind; dates and date-times as the kind and number, or kind and text, they are kept as."""
    kind = cell["kind"]
    if kind == ValueKind.LIST:
        items = items_of(cell["text"])
        return [json.loads(text) if item == ValueKind.JSON else (item, text) for item, text in items]
    if kind is not None and kind > ValueKind.JSON:
        return (kind, cell["text"])
    if kind in {ValueKind.DATE, ValueKind.LOCAL_DATETIME, ValueKind.UTC_DATETIME}:
        return (kind, cell["number"])
    return plain_value(cell) if kind else None


def _stated(path: str, labels: Sequence[str], values: Mapping[str, Any], profile: Profile) -> Iterator[KeyCells]:
    stem = path.rpartition("/")[2][:-3]
    label = next((label for label in labels if label != profile.note_label), None)
    is_placed = profile.default_label is None and label == (path.partition("/")[0] if "/" in path else None)
    if "type" not in values and label is not None and not is_placed:
        yield KeyCells("type", 0, cells_of(label))
    if "id" in values and str(values["id"]) != stem:
        yield KeyCells("id", 0, cells_of(str(values["id"])))
    if "title" in values and (values["title"] != stem or values.get("body")):
        yield KeyCells("title", 0, cells_of(values["title"]))
    for key, value in values.items():
        if key not in _BUILT_IN:
            yield KeyCells(key.removeprefix("frontmatter."), 0, cells_of(value))


def cells_of(value: Any) -> list[Cell]:
    """The property cells of a value of a graph."""
    if isinstance(value, list):
        items: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
        return [_cell(at, item) for at, item in enumerate(items)] or [(-1, ValueKind.EMPTY_LIST, None, None, None)]
    return [_cell(-1, value)]


def _cell(ordinal: int, value: Any) -> Cell:
    match value:
        case bool():
            return ordinal, ValueKind.BOOLEAN, int(value), None, None
        case int():
            return ordinal, ValueKind.INTEGER, value, None, None
        case float():
            return ordinal, ValueKind.FLOAT, None, value, None
        case str():
            return ordinal, ValueKind.TEXT, None, None, value
        case datetime():
            kind = ValueKind.UTC_DATETIME if value.tzinfo else ValueKind.LOCAL_DATETIME
            number = pl.Series([value]).cast(pl.Datetime("us", "UTC" if value.tzinfo else None)).cast(pl.Int64)[0]
            return ordinal, kind, number, None, None
        case date():
            return ordinal, ValueKind.DATE, days_of(value.isoformat()), None, None
        case tuple((int(kind), str(text))):
            written = f"{text}Z" if kind == ValueKind.UTC_DATETIME else text
            read = implicit_kind(written)
            return ordinal, *native(read if read in {DATE, DATETIME} else TEXT, written)
        case tuple((int(kind), int(number))):  # before lists of two numbers
            return ordinal, kind, number, None, None
        case _:
            return ordinal, ValueKind.JSON, None, None, json.dumps(value, ensure_ascii=False)


def relationship_additions(
    graph: Graph, missing: pl.DataFrame, places: Places, keys: Mapping[str, frozenset[str]], tables: Mapping[str, str]
) -> tuple[dict[str, Additions], dict[str, str]]:
    """What notes are given so that they state the relationships ``missing`` (type, source, target, row).

    ``keys``: those each note has; ``tables``: the heading by type. Also gives the tables that are written.
    """
    links: dict[str, dict[str, list[str]]] = {}
    rows: dict[str, dict[str, list[tuple[str, int]]]] = {}
    # row loop: the relationships that no note states
    for kind, source, target, row in missing.iter_rows():
        path, name = places.notes.get(source), places.links.get(target)
        if kind == TAGGED and target in places.tags:
            if path is not None and "tags" not in keys.get(path, ()):
                links.setdefault(path, {}).setdefault("tags", []).append(places.tags[target])
        elif path is not None and name is not None and kind in tables:
            rows.setdefault(path, {}).setdefault(kind, []).append((name, row))
        elif path is not None and name is not None and (key := _key_of(kind, keys.get(path, frozenset()))):
            links.setdefault(path, {}).setdefault(key, []).append(f"[[{name}]]")
    additions: dict[str, Additions] = {}
    for path in sorted({*links, *rows}):
        added = [
            KeyCells(key, 0, cells_of(texts if len(texts) > 1 or key == "tags" else texts[0]))
            for key, texts in sorted(links.get(path, {}).items())
        ]
        after = "".join(_table(graph, kind, tables[kind], found) for kind, found in sorted(rows.get(path, {}).items()))
        additions[path] = Additions(added, after)
    return additions, {kind: tables[kind] for found in rows.values() for kind in found}


def _key_of(kind: str, taken: frozenset[str]) -> str | None:
    """A key that is read as the type and that the note does not have; None where there is none."""
    low = kind.lower()
    tried = [low, low.replace("_", " "), low.capitalize(), kind]
    types = relationship_types(pl.Series(tried)).to_list()
    found = zip(tried, types, strict=True)
    return next((key for key, read in found if read == kind and key not in taken and key not in _RESERVED), None)


def _table(graph: Graph, kind: str, heading: str, rows: Sequence[tuple[str, int]]) -> str:
    columns = graph.relationships[kind].columns
    cells = {key: [_value(column, row) for _, row in rows] for key, column in sorted(columns.items())}
    used = {key: values for key, values in cells.items() if any(value is not None for value in values)}
    lines = [f"\n## {heading}\n", _line(["note", *used]), _line(["---"] * (1 + len(used)))]
    for at, (name, _) in enumerate(rows):
        lines.append(_line([f"[[{name}]]", *(_text(values[at]) for values in used.values())]))
    return "\n".join([*lines, ""])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(re.sub(r"\s*[\r\n]+\s*", " ", cell).replace("|", "\\|") for cell in cells) + " |"


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return str(scalar_text(_cell(-1, value)))
    plain = plain_value(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
