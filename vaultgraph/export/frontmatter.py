"""The frontmatter of one note, written from its property cells.

Keys keep the author's order and, where blank lines can make up for comments, empty keys and nested maps, their lines;
so links, tags and headings are read on the lines they were read on before. Part of writing a vault; it knows no graph.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from vaultgraph.export.scalars import Cell, key_text, literal_lines, scalar_text
from vaultgraph.note.frontmatter import implicit_kind
from vaultgraph.note.records import ValueKind
from vaultgraph.note.values import native

MOST_BLANK_LINES: Final = 2000  # of one frontmatter; a file that asks for more was not written by hand

_SPELLED: Final = ("title", "name", "tags")  # keys whose text counts, not only their value


@dataclass(frozen=True, slots=True)
class KeyCells:
    """One key with its cells in order; ``line`` is the 1-based line of the file it stood on, 0 where there is none."""

    key: str
    line: int
    cells: Sequence[Cell]

    @property
    def is_list(self) -> bool:
        """Whether its value is a list with items."""
        return self.cells[0][0] >= 0


def front_text(stated: Sequence[KeyCells], body_line: int, spellings: Mapping[str, Collection[str]]) -> str:
    """The frontmatter with both fences, line ends LF; "" where there is none to write.

    ``body_line``: the 1-based line on which the body started; 1 where the note had no frontmatter. ``spellings``: for
    some keys the texts their values may have been written as (``title: 007``).
    """
    if not stated and body_line <= 1:
        return ""
    # after the last key comes the closing fence; a key that is new has no line of its own
    stops = [entry.line or body_line - 1 for entry in stated[1:]] + [body_line - 1]
    is_padded = body_line - len(stated) <= MOST_BLANK_LINES
    lines = ["---"]
    runs = _map_runs(stated)
    at = 0
    # row loop: the keys of one note
    while at < len(stated):
        entry = stated[at]
        run = runs[at] if is_padded else 0
        if run > 1 and stated[at + 1].line == entry.line:
            lines += [""] * (entry.line - 1 - len(lines))
            lines += _flow_map(stated[at : at + run])
        elif run and len(lines) == entry.line - 2:
            prefix = entry.key.partition(".")[0]
            lines.append(key_text(prefix))
            lines += _block_map(stated[at : at + run], stops[at : at + run], len(prefix) + 1, len(lines))
        else:
            run = 1
            lines += [""] * (entry.line - 1 - len(lines) if is_padded else 0)
            lines += _entry_lines(entry, stops[at] - entry.line, spellings.get(entry.key, ()))
        at += run
    lines += [""] * (body_line - 2 - len(lines) if is_padded else 0)
    return "\n".join([*lines, "---", ""])


def _map_runs(stated: Sequence[KeyCells]) -> list[int]:
    """For each key how many keys from it on can be written as one map inside the frontmatter.

    0 where it is not in one, is not the first, or the name of the map is taken.
    """
    prefixes = [entry.key.partition(".")[0] for entry in stated]
    totals = Counter(prefixes)
    runs = [0] * len(stated)
    length = 0
    # row loop: the keys of one note, from the last
    for at in range(len(stated) - 1, -1, -1):
        length = length + 1 if at + 1 < len(stated) and prefixes[at] == prefixes[at + 1] else 1
        runs[at] = length if prefixes[at] and totals[prefixes[at]] == length else 0
    plain = {entry.key for entry in stated if "." not in entry.key}
    return [0 if prefix in plain else run for prefix, run in zip(prefixes, runs, strict=True)]


def _flow_map(run: Sequence[KeyCells]) -> list[str]:
    """Keys that stood on one line, as a map in braces; what comes after on lines of its own stays outside."""
    prefix = run[0].key.partition(".")[0]
    inside = [f"{key_text(entry.key[len(prefix) + 1 :])} {_flow_value(entry)}" for entry in run]
    return [f"{key_text(prefix)} {{{', '.join(inside)}}}"]


def _flow_value(entry: KeyCells) -> str:
    texts = [scalar_text(cell, in_flow=True) for cell in entry.cells]
    return f"[{', '.join(texts)}]" if entry.is_list else texts[0]


def _block_map(run: Sequence[KeyCells], stops: Sequence[int], cut: int, above: int) -> list[str]:
    """Keys below the name of their map, which is on line ``above``."""
    lines: list[str] = []
    for entry, stop in zip(run, stops, strict=True):
        lines += [""] * (entry.line - 1 - above - len(lines))
        inner = KeyCells(entry.key[cut:], entry.line, entry.cells)
        lines += [f"  {line}" if line else "" for line in _entry_lines(inner, stop - entry.line, ())]
    return lines


def _entry_lines(entry: KeyCells, room: int, spellings: Collection[str]) -> list[str]:
    """The lines of one key; ``room`` is how many it had in the author's file."""
    key = key_text(entry.key)
    if not entry.is_list:
        cell = entry.cells[0]
        if cell[1] == ValueKind.TEXT and "\n" in (cell[4] or "") and room != 1:
            literal = literal_lines(cell[4] or "")
            if literal:
                return [*f"{key} {literal[0]}".split("\n"), *literal[1:]]
        return f"{key} {_spelled(entry.key, cell, spellings)}".split("\n")
    if 0 < room <= len(entry.cells):
        items = ", ".join(_spelled(entry.key, cell, spellings, in_flow=True) for cell in entry.cells)
        return f"{key} [{items}]".split("\n")
    return [*key.split("\n"), *(f"  - {_spelled(entry.key, cell, spellings)}" for cell in entry.cells)]


def _spelled(key: str, cell: Cell, spellings: Collection[str], *, in_flow: bool = False) -> str:
    """The text of a cell; a number or date under some keys is spelled as the author spelled it."""
    if key in _SPELLED and cell[1] != ValueKind.TEXT:
        for text in spellings:
            if native(implicit_kind(text), text) == cell[1:]:
                return text
    return scalar_text(cell, in_flow=in_flow)
