"""What the frontmatter of many notes states, as columns: property cells, links, tags, titles.

Second step of reading a note. Most frontmatter is read by `flat`, the rest by `tree`; both fill the same columns. Equal
scalars are one value, whose columns are made once. Only `tags`, `title`, `name` and `kg_skip` are looked at, and none
of them is removed from the cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.note.flat import FlatEntry, FlatReader
from vaultgraph.note.frontmatter import BOOLEAN, NULL, TEXT
from vaultgraph.note.patterns import is_tag_name
from vaultgraph.note.records import PROPERTIES
from vaultgraph.note.tree import Tree, read_tree
from vaultgraph.note.values import EMPTY_LIST, native

MOST_NODES: Final = 100_000  # YAML nodes looked at in one note, aliases counted each time

_LOOKED_AT: Final = frozenset(("tags", "title", "name", "kg_skip"))

Cell = tuple[str, int, int, int | None, float | None, str | None, int]  # key, ordinal, kind, number, real, text, line


@dataclass(slots=True)
class Value:
    """A scalar: ``code`` is its row in the table of values, -1 for null."""

    kind: str
    text: str
    code: int
    is_linked: bool  # a text with [[


@dataclass(slots=True)
class Stated:
    """What one frontmatter states; lines are 1-based lines of the file."""

    cells: list[Cell]
    texts: list[tuple[str, str, int]]  # key, text with [[, line
    tags: list[tuple[str, int]]
    refused_tags: list[tuple[str, int]]
    title: str | None
    is_skipped: bool


def stated_by(source: str) -> Stated:
    """Everything the YAML text of one frontmatter states.

    Raises: FrontmatterError for YAML that cannot be used (syntax, a key given twice, too large or too deep).
    """
    statements = Statements()
    statements.add(0, source)
    return Stated(
        cells=statements.cells(),
        texts=[row[1:] for row in statements.links],
        tags=[(tag, line) for _, line, tag in statements.tags],
        refused_tags=[(tag, line) for _, line, tag in statements.refused_tags],
        title=statements.titles.get(0),
        is_skipped=0 in statements.skipped,
    )


@dataclass(slots=True)
class _Cells:
    """Property cells of all notes: the code of the value, the number of the key, ordinal and line of each."""

    values: list[int] = field(default_factory=list[int])
    keys: list[int] = field(default_factory=list[int])
    ordinals: list[int] = field(default_factory=list[int])
    lines: list[int] = field(default_factory=list[int])


class _Values:
    """Every distinct scalar of a batch once: what it is worth, under a code."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Value] = {}
        self.natives: dict[str, list[object]] = {"kind": [], "number": [], "real": [], "text": []}  # by code

    def value(self, kind: str, text: str) -> Value:
        """The value of a scalar; null has the code -1."""
        value = self._known.get((kind, text))
        if value is None:
            code = -1
            if kind != NULL:
                code = len(self.natives["kind"])
                for column, cell in zip(self.natives.values(), native(kind, text), strict=True):
                    column.append(cell)
            value = Value(kind, text, code, kind == TEXT and "[[" in text)
            self._known[kind, text] = value
        return value


class Statements:
    """Collects what notes state, note by note.

    ``links``: note, key, text with ``[[``, line. ``tags`` and ``refused_tags``: note, line, tag. ``titles``: of notes
    that state one. ``skipped``: notes with `kg_skip`. All in the order of notes and lines.
    """

    def __init__(self) -> None:
        self.links: list[tuple[int, str, str, int]] = []
        self.tags: list[tuple[int, int, str]] = []
        self.refused_tags: list[tuple[int, int, str]] = []
        self.titles: dict[int, str] = {}
        self.skipped: set[int] = set()
        self._values = _Values()
        self._flat = FlatReader(self._values.value)
        self._keys: dict[str, int] = {}  # number of each key
        self._tag_names: dict[str, tuple[str, bool]] = {}  # of a text: the tag, and whether it may be one
        self._cells = _Cells()
        self._notes: list[int] = []
        self._stops: list[int] = []  # how many cells there are after each of `_notes`

    def add(self, note: int, source: str) -> None:
        """Add what the YAML text of a frontmatter states; its line ends are LF.

        Raises: FrontmatterError for YAML that cannot be used; nothing of it is added.
        """
        entries = self._flat.entries(source)
        if entries is not None:
            self._add_entries(note, entries)
        else:
            self._add_tree(note, read_tree(source, MOST_NODES))
        self._notes.append(note)
        self._stops.append(len(self._cells.lines))

    def cells(self) -> list[Cell]:
        """Every cell as plain values, for a single note."""
        columns, keys = self._cells, list(self._keys)
        natives = list(zip(*self._values.natives.values(), strict=True))
        rows = zip(columns.keys, columns.ordinals, columns.values, columns.lines, strict=True)
        return [(keys[key], ordinal, *natives[code], line) for key, ordinal, code, line in rows]

    def properties(self) -> pl.DataFrame:
        """The table PROPERTIES."""
        cells = self._cells
        codes = np.array(cells.values, dtype=np.uint32)
        counts = np.diff(np.array(self._stops, dtype=np.int64), prepend=0)
        columns = {
            "note": pl.Series(np.repeat(np.array(self._notes, dtype=np.uint32), counts)),
            "key": pl.Series(list(self._keys), dtype=pl.String).gather(np.array(cells.keys, dtype=np.uint32)),
            "ordinal": pl.Series(cells.ordinals, dtype=pl.Int32),
            "line": pl.Series(cells.lines, dtype=pl.Int32),
        }
        for name, values in self._values.natives.items():
            columns[name] = pl.Series(values, dtype=PROPERTIES[name]).gather(codes)
        return pl.DataFrame([columns[name].alias(name) for name in PROPERTIES.names()])

    def _add_entries(self, note: int, entries: Sequence[FlatEntry[Value]]) -> None:
        columns, numbers = self._cells, self._keys
        names: dict[str, str] = {}
        # row loop: the keys of one note
        for key, line, value, items, item_lines in entries:
            if items is not None:
                lines = item_lines or [line] * len(items)
                self._add_items(note, key, line, items, lines)
                if key == "tags":
                    self._add_tags(note, items, lines)
            elif value is not None and value.code >= 0:
                columns.values.append(value.code)
                columns.keys.append(numbers.setdefault(key, len(numbers)))
                columns.ordinals.append(-1)
                columns.lines.append(line)
                if value.is_linked:
                    self.links.append((note, key, value.text, line))
                if key in _LOOKED_AT:
                    self._look_at(note, names, key, value, line)
        self._add_title(note, names)

    def _add_items(self, note: int, key: str, line: int, items: Sequence[Value], lines: Sequence[int]) -> None:
        codes = [value.code for value in items if value.code >= 0]
        if not codes:
            self._add_cell(key, -1, EMPTY_LIST, "", line)
            return
        columns, count = self._cells, len(codes)
        columns.values += codes
        columns.keys += [self._keys.setdefault(key, len(self._keys))] * count
        columns.ordinals += range(count)
        columns.lines += [line] * count
        self.links += [(note, key, value.text, own) for value, own in zip(items, lines, strict=True) if value.is_linked]

    def _add_cell(self, key: str, ordinal: int, kind: str, text: str, line: int) -> None:
        columns = self._cells
        columns.values.append(self._values.value(kind, text).code)
        columns.keys.append(self._keys.setdefault(key, len(self._keys)))
        columns.ordinals.append(ordinal)
        columns.lines.append(line)

    def _add_tree(self, note: int, tree: Tree) -> None:
        names: dict[str, str] = {}
        # row loop: the cells of one note
        for key, ordinal, kind, text, line in tree.cells:
            self._add_cell(key, ordinal, kind, text, line)
        self.links += [(note, *link) for link in tree.links]
        # row loop: the keys of one note
        for key, scalars, is_list in tree.scalars:
            if key not in _LOOKED_AT:
                continue
            values = [self._values.value(kind, text) for kind, text, _ in scalars]
            if key == "tags":
                self._add_tags(note, values, [line for *_, line in scalars])
            elif not is_list and values:
                self._look_at(note, names, key, values[0], scalars[0][2])
        self._add_title(note, names)

    def _look_at(self, note: int, names: dict[str, str], key: str, value: Value, line: int) -> None:
        """The keys reading knows, where they have one scalar."""
        if key == "tags":
            self._add_tags(note, [value], [line])
        elif value.code < 0:
            return
        elif key != "kg_skip":
            names[key] = value.text.strip()
        elif value.kind == BOOLEAN and value.text[0] in "tT":
            self.skipped.add(note)

    def _add_tags(self, note: int, values: Sequence[Value], lines: Sequence[int]) -> None:
        # row loop: the entries of one `tags:`
        for value, line in zip(values, lines, strict=True):
            if value.code < 0:
                continue
            tag, is_name = self._tag_names.get(value.text) or self._tag_name(value.text)
            if tag:
                (self.tags if is_name else self.refused_tags).append((note, line, tag))

    def _tag_name(self, text: str) -> tuple[str, bool]:
        tag = text.strip().removeprefix("#")
        self._tag_names[text] = found = tag, is_tag_name(tag)
        return found

    def _add_title(self, note: int, names: dict[str, str]) -> None:
        title = names.get("title") or names.get("name")
        if title:
            self.titles[note] = title
