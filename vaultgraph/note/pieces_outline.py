"""The headings of one body as an outline: which section a line lies in, and the ids of sections.

First step of reading pieces; every other kind of piece asks it where it is. What a heading is was decided before, in
the table HEADINGS: sections have the titles that links name.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

MOST_TITLE: Final = 200  # characters of a heading that go into ids, which repeat it for everything below


class Heading(NamedTuple):
    """A heading: 0-based line of the body, the line after it (an underline is part of it), level and text."""

    row: int
    end: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Outline:
    """The headings of a body in order, and by position among them what they make.

    ``fragments``: the id of each section. ``above``: position of the enclosing heading, -1 at the top. ``ends``: the
    line after the section. ``repeated``: positions of headings whose path an earlier one has.
    """

    headings: Sequence[Heading]
    rows: Sequence[int]
    fragments: Sequence[str]
    above: Sequence[int]
    ends: Sequence[int]
    repeated: Sequence[int]

    def position(self, row: int) -> int:
        """The position of the nearest heading at or above line ``row``, -1 before the first."""
        return bisect_right(self.rows, row) - 1

    def fragment(self, position: int) -> str:
        """The id of the section at ``position``, "" for -1."""
        return self.fragments[position] if position >= 0 else ""


class Fragments:
    """The ids given out in one note; a second one of the same spelling is numbered from 2."""

    def __init__(self) -> None:
        self._given: set[str] = set()
        self._next: dict[str, int] = {}

    def unique(self, fragment: str) -> str:
        """``fragment``, or with ``~2``, ``~3`` … behind it where it is taken."""
        name, number = fragment, self._next.get(fragment, 2)
        # row loop: ids taken by others; each number is tried once
        while name in self._given:
            name, number = f"{fragment}~{number}", number + 1
        if name is not fragment:
            self._next[fragment] = number
        self._given.add(name)
        return name


def outline_of(headings: Sequence[Heading], size: int, fragments: Fragments) -> Outline:
    """The outline of a body of ``size`` lines; the ids of its sections are taken from ``fragments``."""
    above: list[int] = []
    paths: list[str] = []
    names: list[str] = []
    repeated: list[int] = []
    ends = [size] * len(headings)
    open_ones: list[int] = []
    seen: set[str] = set()
    # row loop: the headings of one body; each is opened and closed once
    for position, heading in enumerate(headings):
        while open_ones and headings[open_ones[-1]].level >= heading.level:
            ends[open_ones.pop()] = heading.row
        above.append(open_ones[-1] if open_ones else -1)
        path = (paths[above[-1]] if open_ones else "") + "#" + heading.title[:MOST_TITLE]
        paths.append(path)
        if path in seen:
            repeated.append(position)
        seen.add(path)
        names.append(fragments.unique(path))
        open_ones.append(position)
    return Outline(headings, [heading.row for heading in headings], names, above, ends, repeated)
