"""What the frontmatter of many notes states, as columns: property cells, links, tags, titles.

Second step of reading a note. Most frontmatter is read by `flat`, the rest by `tree`; both fill the same columns. Equal
scalars are one value, whose columns are made once. Only `tags`, `title`, `name` and `kg_skip` are looked at, and none
of them is removed from the cells.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.note.flat import FlatReader, LineKind
from vaultgraph.note.frontmatter import BOOLEAN, NULL, TEXT
from vaultgraph.note.lines import IntArray
from vaultgraph.note.patterns import is_tag_name
from vaultgraph.note.records import PROPERTIES, ValueKind
from vaultgraph.note.tree import Tree, read_tree
from vaultgraph.note.values import EMPTY_LIST, native

MOST_NODES: Final = 100_000  # YAML nodes looked at in one note, aliases counted each time

Cell = tuple[str, int, int, int | None, float | None, str | None, int]  # key, ordinal, kind, number, real, text, line


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
    collector = Collector()
    collector.add(0, source)
    stated = collector.statements()
    return Stated(
        cells=[row[1:] for row in stated.properties.iter_rows()],
        texts=[row[1:] for row in stated.links],
        tags=[(tag, line) for _, line, tag in stated.tags],
        refused_tags=[(tag, line) for _, line, tag in stated.refused_tags],
        title=stated.titles.get(0),
        is_skipped=0 in stated.skipped,
    )


@dataclass(frozen=True, slots=True)
class Statements:
    """What notes state.

    ``properties``: the table PROPERTIES. ``links``: note, key, text with ``[[``, line. ``tags`` and ``refused_tags``:
    note, line, tag. ``titles``: of notes that state one. ``skipped``: notes with `kg_skip`. Rows of a note are in
    order of lines, and all but links and tags in the order of notes.
    """

    properties: pl.DataFrame
    links: list[tuple[int, str, str, int]]
    tags: list[tuple[int, int, str]]
    refused_tags: list[tuple[int, int, str]]
    titles: dict[int, str]
    skipped: list[int]


class _Values:
    """Distinct scalars by code, as they are written; ``odd`` are the codes of those that are not text."""

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.texts: list[str] = []
        self.odd: list[int] = []
        self._codes: dict[str, dict[str, int]] = {}  # by kind and text

    def code_of(self, kind: str, text: str) -> int:
        """The code of a scalar, -1 for null."""
        if kind == NULL:
            return -1
        codes = self._codes.get(kind)
        if codes is None:
            self._codes[kind] = codes = {}
        code = codes.get(text)
        if code is None:
            codes[text] = code = len(self.kinds)
            self.kinds.append(kind)
            self.texts.append(text)
            if kind != TEXT:
                self.odd.append(code)
        return code

    def columns(self) -> dict[str, pl.Series]:
        """The columns of PROPERTIES that hold a value, by code."""
        size = len(self.texts)
        kinds = np.full(size, int(ValueKind.TEXT), dtype=np.uint8)
        numbers: list[int | None] = [None] * size
        reals: list[float | None] = [None] * size
        texts: list[str | None] = list(self.texts)
        # row loop: distinct scalars that are not text
        for code in self.odd:
            kinds[code], numbers[code], reals[code], texts[code] = native(self.kinds[code], self.texts[code])
        columns = {"kind": kinds, "number": numbers, "real": reals, "text": texts}
        return {name: pl.Series(name, cells, dtype=PROPERTIES[name]) for name, cells in columns.items()}


@dataclass(frozen=True, slots=True)
class _Cells:
    """Property cells of all notes: note, number of the key, ordinal, code of the value, line of the key and its own,
    and the kind of the line (OTHER: of a parsed frontmatter)."""

    note: IntArray
    key: IntArray
    ordinal: IntArray
    code: IntArray
    line: IntArray
    own_line: IntArray
    kind: IntArray


class Collector:
    """Takes what notes state, note by note in order.

    A row is a line of a flat frontmatter or a cell of a parsed one.
    """

    def __init__(self) -> None:
        self._values = _Values()
        self._empty = self._values.code_of(EMPTY_LIST, "")
        self._flat = FlatReader(self._values.code_of, self._empty)
        self._notes: list[int] = []
        self._sizes: list[int] = []  # how many rows each of them has
        self._numbers: list[int] = []  # of lines in the reader's table
        self._keys: list[int] = []
        self._ordinals: list[int] = []
        self._lines: list[int] = []
        self._cell_lines: dict[int, int] = {}  # the number of a line that only has the value of this code
        self._trees: list[tuple[int, Tree]] = []

    def add(self, note: int, source: str) -> None:
        """Add what the YAML text of a frontmatter states; its line ends are LF.

        Raises: FrontmatterError for YAML that cannot be used; nothing of it is added.
        """
        found = self._flat.read(source)
        if found is None:
            self._add_tree(note, read_tree(source, MOST_NODES))
            return
        numbers, layout = found
        self._notes.append(note)
        self._sizes.append(len(numbers))
        self._numbers += numbers
        self._keys += layout.keys
        self._ordinals += layout.ordinals
        self._lines += layout.lines

    def _add_tree(self, note: int, tree: Tree) -> None:
        self._trees.append((note, tree))
        self._notes.append(note)
        self._sizes.append(len(tree.cells))
        # row loop: the cells of one note
        for key, ordinal, kind, text, line in tree.cells:
            code = self._values.code_of(kind, text)
            if code not in self._cell_lines:
                self._cell_lines[code] = self._flat.add_value(code)
            self._numbers.append(self._cell_lines[code])
            self._keys.append(self._flat.key_number(key))
            self._ordinals.append(ordinal)
            self._lines.append(line)

    def statements(self) -> Statements:
        """All that was taken."""
        cells = self._expanded()
        stated = Statements(self._properties(cells), self._links(cells), [], [], {}, [])
        self._add_tags(stated, cells)
        self._add_names(stated, cells)
        # row loop: notes that need the YAML parser
        for note, tree in self._trees:
            self._look_at(stated, note, tree)
        return stated

    def _expanded(self) -> _Cells:
        """A cell for each value of each row."""
        table = self._flat.table
        sizes, numbers = np.array(self._sizes, dtype=np.int64), np.array(self._numbers, dtype=np.int64)
        counts = np.array(table.counts, dtype=np.int64)[numbers]
        row = np.repeat(np.arange(len(numbers)), counts)
        offset = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
        first = np.array(table.firsts, dtype=np.int64)[numbers]
        code = np.array(table.codes, dtype=np.int64)[first[row] + offset]
        ordinal = np.array(self._ordinals, dtype=np.int64)[row]
        begins = np.repeat(np.cumsum(sizes) - sizes, sizes)  # the first row of the note of each row
        return _Cells(
            note=np.repeat(np.array(self._notes, dtype=np.int64), sizes)[row],
            key=np.array(self._keys, dtype=np.int64)[row],
            ordinal=np.where((ordinal < 0) | (code == self._empty), -1, ordinal + offset),
            code=code,
            line=np.array(self._lines, dtype=np.int64)[row],
            own_line=2 + row - begins[row],
            kind=np.array(table.kinds, dtype=np.int64)[numbers][row],
        )

    def _properties(self, cells: _Cells) -> pl.DataFrame:
        columns = {
            "note": pl.Series(cells.note),
            "key": pl.Series(list(self._flat.keys), dtype=pl.String)[cells.key],
            "ordinal": pl.Series(cells.ordinal),
            "line": pl.Series(cells.line),
        }
        for name, values in self._values.columns().items():
            columns[name] = values[cells.code]
        return pl.DataFrame([columns[name].cast(dtype).alias(name) for name, dtype in PROPERTIES.items()])

    def _links(self, cells: _Cells) -> list[tuple[int, str, str, int]]:
        values, keys = self._values, list(self._flat.keys)
        linked = ["[[" in text for text in values.texts]
        for code in values.odd:
            linked[code] = False
        at = np.flatnonzero(np.array(linked)[cells.code] & (cells.kind != LineKind.OTHER))
        rows = zip(
            *(column[at].tolist() for column in (cells.note, cells.key, cells.code, cells.own_line)), strict=True
        )
        return [(note, keys[key], values.texts[code], line) for note, key, code, line in rows]

    def _under(self, cells: _Cells, key: str) -> IntArray:
        """The cells of flat frontmatter under ``key``."""
        return np.flatnonzero((cells.key == self._flat.keys.get(key, -1)) & (cells.kind != LineKind.OTHER))

    def _add_tags(self, stated: Statements, cells: _Cells) -> None:
        at = self._under(cells, "tags")
        at = at[cells.code[at] != self._empty]
        codes: list[int] = cells.code[at].tolist()
        names = {code: _tag_of(self._values.texts[code]) for code in set(codes)}
        # row loop: the tags of all notes
        for note, line, code in zip(cells.note[at].tolist(), cells.own_line[at].tolist(), codes, strict=True):
            tag, is_name = names[code]
            if tag:
                (stated.tags if is_name else stated.refused_tags).append((note, line, tag))

    def _add_names(self, stated: Statements, cells: _Cells) -> None:
        """Titles, a name in place of one, and `kg_skip`; lists are none."""
        values = self._values
        for key in ("name", "title"):
            for note, code in self._scalars(cells, key):
                if name := values.texts[code].strip():
                    stated.titles[note] = name
        for note, code in self._scalars(cells, "kg_skip"):
            if values.kinds[code] == BOOLEAN and values.texts[code][0] in "tT":
                stated.skipped.append(note)

    def _scalars(self, cells: _Cells, key: str) -> Iterator[tuple[int, int]]:
        """Note and code of the values of a key that is no list."""
        at = self._under(cells, key)
        at = at[cells.kind[at] == LineKind.SCALAR]
        return zip(cells.note[at].tolist(), cells.code[at].tolist(), strict=True)

    def _look_at(self, stated: Statements, note: int, tree: Tree) -> None:
        stated.links.extend((note, *link) for link in tree.links)
        names: dict[str, str] = {}
        # row loop: the keys of one note
        for key, scalars, is_list in tree.scalars:
            kind, text, _ = scalars[0] if scalars else (NULL, "", 0)
            if key == "tags":
                # row loop: the entries of one `tags:`
                for kind, text, line in scalars:
                    tag, is_name = ("", False) if kind == NULL else _tag_of(text)
                    if tag:
                        (stated.tags if is_name else stated.refused_tags).append((note, line, tag))
            elif is_list or kind == NULL:
                continue
            elif key in {"title", "name"}:
                names[key] = text.strip()
            elif key == "kg_skip" and kind == BOOLEAN and text[0] in "tT":
                stated.skipped.append(note)
        if title := names.get("title") or names.get("name"):
            stated.titles[note] = title


def _tag_of(text: str) -> tuple[str, bool]:
    """What a text is under `tags:`, "" for nothing, and whether it may be a tag."""
    tag = text.strip().removeprefix("#")
    return tag, is_tag_name(tag)
