"""What the frontmatter of many notes states, as columns: property cells, links, tags, titles.

Second step of reading a note. Most frontmatter is read by `flat`, the rest by `tree`; both fill the same columns. Only
`tags`, `title`, `name` and `kg_skip` are looked at, and none of them is removed from the cells.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vaultgraph.note.flat import FlatRows, read_flat
from vaultgraph.note.flat_lines import LineKind, LineReader
from vaultgraph.note.frontmatter import BOOLEAN, NULL, FrontmatterError
from vaultgraph.note.lines import IntArray, at_rows
from vaultgraph.note.patterns import is_tag_name
from vaultgraph.note.records import PROPERTIES, TAGS
from vaultgraph.note.tree import Tree, read_tree
from vaultgraph.note.values import Values

MOST_NODES: Final = 100_000  # YAML nodes looked at in one note, aliases counted each time

_TAGS: Final = pl.Schema({name: TAGS[name] for name in ("note", "line", "tag")})

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
    collector = Collector(np.zeros(1, dtype=np.int64), pl.Series([source], dtype=pl.String))
    stated = collector.statements()
    if collector.refused:
        raise collector.refused[0][1]
    return Stated(
        cells=[row[1:] for row in stated.properties.iter_rows()],
        texts=[row[1:] for row in stated.links],
        tags=[(tag, line) for _, line, tag in stated.tags.iter_rows()],
        refused_tags=[(tag, line) for _, line, tag in stated.refused_tags],
        title=stated.titles.get(0),
        is_skipped=0 in stated.skipped,
    )


@dataclass(frozen=True, slots=True)
class Statements:
    """What notes state.

    ``properties``: the table PROPERTIES. ``links``: note, key, text with ``[[``, line. ``tags``: TAGS without
    `is_inline`; ``refused_tags``: note, line, tag. ``titles``: of notes that state one. ``skipped``: notes with
    `kg_skip`. Rows of a note are in order of lines, and all but links and tags in the order of notes.
    """

    properties: pl.DataFrame
    links: list[tuple[int, str, str, int]]
    tags: pl.DataFrame
    refused_tags: list[tuple[int, int, str]]
    titles: dict[int, str]
    skipped: list[int]


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
    """Tells what the frontmatter of ``notes``, ascending, states; ``sources`` are their YAML texts, line ends LF."""

    def __init__(self, notes: IntArray, sources: pl.Series) -> None:
        self._values = Values()
        self._flat = LineReader(self._values)
        self._empty = self._flat.empty
        self._notes = notes
        self._sources = sources
        self._trees: list[tuple[int, Tree]] = []
        self.refused: list[tuple[int, FrontmatterError]] = []

    def statements(self) -> Statements:
        """All that they state. Nothing of a note whose YAML cannot be used, which then is among ``refused``."""
        rows = read_flat(self._flat, self._sources)
        left = np.flatnonzero(~rows.is_flat)
        # row loop: notes that need the YAML parser
        for note, source in zip(self._notes[left].tolist(), at_rows(self._sources, left).to_list(), strict=True):
            try:
                self._trees.append((note, read_tree(source, MOST_NODES)))
            except FrontmatterError as error:
                self.refused.append((note, error))
        cells = self._expanded(rows)
        if self._trees:
            cells = self._with_trees(cells)
        refused: list[tuple[int, int, str]] = []
        tags = self._tags(cells, refused)
        stated = Statements(self._properties(cells), self._links(cells), tags, refused, {}, [])
        self._add_names(stated, cells)
        # row loop: notes that need the YAML parser
        for note, tree in self._trees:
            self._look_at(stated, note, tree)
        return stated

    def _expanded(self, rows: FlatRows) -> _Cells:
        """A cell for each value of each row."""
        table = self._flat.table
        counts = np.array(table.counts, dtype=np.int64)[rows.number]
        row = np.repeat(np.arange(len(counts)), counts)
        offset = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
        first = np.array(table.firsts, dtype=np.int64)[rows.number]
        code = np.array(table.codes, dtype=np.int64)[first[row] + offset]
        ordinal = rows.ordinal[row]
        return _Cells(
            note=self._notes[rows.source[row]],
            key=rows.key[row],
            ordinal=np.where((ordinal < 0) | (code == self._empty), -1, ordinal + offset),
            code=code,
            line=rows.line[row],
            own_line=rows.own_line[row],
            kind=np.array(table.kinds, dtype=np.int64)[rows.number][row],
        )

    def _with_trees(self, cells: _Cells) -> _Cells:
        """The cells with those of parsed frontmatter between them, in the order of notes."""
        keys, code_of = self._flat.key_number, self._values.code_of
        # row loop: the cells of notes that need the YAML parser
        found = [
            (note, keys(key), ordinal, code_of(kind, text), line, line, int(LineKind.OTHER))
            for note, tree in self._trees
            for key, ordinal, kind, text, line in tree.cells
        ]
        columns = np.array(found, dtype=np.int64).reshape(-1, 7).T
        order = np.argsort(np.concatenate([cells.note, columns[0]]), kind="stable")
        names = [field.name for field in fields(_Cells)]
        return _Cells(
            *(
                np.concatenate([getattr(cells, name), column])[order]
                for name, column in zip(names, columns, strict=True)
            )
        )

    def _properties(self, cells: _Cells) -> pl.DataFrame:
        columns: dict[str, NDArray[np.generic] | pl.Series] = {
            "note": cells.note.astype(np.uint32),
            "key": pl.Series(list(self._flat.keys), dtype=pl.String)[_index(cells.key)],
            "ordinal": cells.ordinal.astype(np.int32),
            "line": cells.line.astype(np.int32),
        }
        code = _index(cells.code)
        columns |= {name: values[code] for name, values in self._values.columns().items()}
        return pl.DataFrame([pl.Series(name, columns[name]) for name in PROPERTIES])

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

    def _tags(self, cells: _Cells, refused: list[tuple[int, int, str]]) -> pl.DataFrame:
        """What is under `tags:`; what may be no tag is added to ``refused``."""
        at = self._under(cells, "tags")
        at = at[cells.code[at] != self._empty]
        codes, position = np.unique(cells.code[at], return_inverse=True)
        distinct: list[int] = codes.tolist()
        names = [_tag_of(self._values.texts[code]) for code in distinct]
        is_name = np.array([bool(tag) and is_so for tag, is_so in names], dtype=np.bool_)[position]
        is_refused = np.array([bool(tag) and not is_so for tag, is_so in names], dtype=np.bool_)[position]
        note, line = cells.note[at], cells.own_line[at]
        numbers: list[int] = position[is_refused].tolist()
        texts = [names[number][0] for number in numbers]
        refused += zip(note[is_refused].tolist(), line[is_refused].tolist(), texts, strict=True)
        tag = pl.Series("tag", [tag for tag, _ in names], dtype=pl.String)[_index(position[is_name])]
        columns = [
            pl.Series("note", note[is_name]).cast(_TAGS["note"]),
            pl.Series("line", line[is_name]).cast(_TAGS["line"]),
        ]
        found = pl.DataFrame([*columns, tag])
        parsed: list[tuple[int, int, str]] = []
        # row loop: notes that need the YAML parser
        for number, tree in self._trees:
            for own_line, text in _tag_entries(tree):
                name, is_so = _tag_of(text)
                if name:
                    (parsed if is_so else refused).append((number, own_line, name))
        return pl.concat([found, pl.DataFrame(parsed, schema=_TAGS, orient="row")]) if parsed else found

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
            if is_list or kind == NULL:
                continue
            if key in {"title", "name"}:
                names[key] = text.strip()
            elif key == "kg_skip" and kind == BOOLEAN and text[0] in "tT":
                stated.skipped.append(note)
        if title := names.get("title") or names.get("name"):
            stated.titles[note] = title


def _index(rows: IntArray) -> pl.Series:
    return pl.Series(rows.astype(np.uint32))


def _tag_entries(tree: Tree) -> Iterator[tuple[int, str]]:
    """Line and text of what is under `tags:` in parsed frontmatter."""
    for key, scalars, _ in tree.scalars:
        if key == "tags":
            yield from ((line, text) for kind, text, line in scalars if kind != NULL)


def _tag_of(text: str) -> tuple[str, bool]:
    """What a text is under `tags:`, "" for nothing, and whether it may be a tag."""
    tag = text.strip().removeprefix("#")
    return tag, is_tag_name(tag)
