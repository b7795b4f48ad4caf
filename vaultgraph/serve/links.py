"""What `links` does: what a note links to, what links to it and what is linked to and not there, with path and line.

Each step outward asks the queries behind the commands `links` and `backlinks` about all notes that the step before
reached, of one generation. A link is told once, where it is met first.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final, cast

from vaultgraph.cypher.budget import Budget, budget_for
from vaultgraph.serve.answers import Answer
from vaultgraph.serve.asking import Asked, ask_of, asked_snapshot
from vaultgraph.serve.cells import counted, one_line
from vaultgraph.serve.lookup import find_note
from vaultgraph.serve.payload import RowPages, reply_bytes
from vaultgraph.serve.rows import ListRows
from vaultgraph.serve.session import Call
from vaultgraph.serve.vault_queries import of_several, query_of
from vaultgraph.vault.snapshot import Snapshot

DEADLINE_MS: Final = 180_000
MOST_FOLLOWED: Final = 500  # notes of a step
COLUMNS: Final = ("direction", "path", "line", "type", "anchor")
WITH_DEPTH: Final = ("depth", "of", *COLUMNS)
UNRESOLVED: Final = "unresolved"
Link = tuple[str, str, str, int, str, str | None]
"""Of which note, ``out``, ``in`` or UNRESOLVED, the other end, the line where it is written, type, anchor."""


def links(call: Call) -> Answer:
    """A row for each link of the note and, with ``depth``, of the notes it leads to; then what it was about."""
    arguments = call.arguments
    asked = asked_snapshot(call.session)
    start = find_note(asked[0].graph, arguments["note"])
    walk = _Walk(call, asked, arguments.get("direction", "both"), budget_for(DEADLINE_MS, call.cancelled))
    depth = arguments.get("depth", 1)
    rows: list[tuple[object, ...]] = []
    notes: list[str] = []
    counts: dict[str, int] = dict.fromkeys(("out", "in", UNRESOLVED), 0)
    frontier, reached = [start], {start}
    for step in range(1, depth + 1):
        found = walk.step(frontier)
        for link in found:
            counts[link[1]] += 1
            rows.append((step, *link) if depth > 1 else link[1:])
        nearby = dict.fromkeys(link[2] for link in found if link[1] != UNRESOLVED)
        further = [path for path in nearby if path not in reached]
        reached.update(further)
        frontier = further[:MOST_FOLLOWED]
        if step < depth and len(further) > MOST_FOLLOWED:
            notes.append(f"depth {step + 1}: links of {MOST_FOLLOWED} of {counted(len(further), 'note')} are listed")
        if not frontier:
            break
    found_in_all = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    notes = [f"{one_line(start)}: {found_in_all}", *notes, *(f"warning: {remark}" for remark in walk.last.remarks)]
    pages = RowPages(WITH_DEPTH if depth > 1 else COLUMNS, ListRows(rows), "text", walk.last.marks, tuple(notes))
    return call.session.results.answer(pages, reply_bytes(arguments))


class _Walk:
    """Steps along the links of one generation. ``last``: the answer of the last query."""

    last: Asked

    def __init__(self, call: Call, asked: tuple[Snapshot, datetime], direction: str, budget: Budget) -> None:
        self._call = call
        self._asked = asked
        self._budget = budget
        self._queries = [name for name, way in (("links", "out"), ("backlinks", "in")) if direction in (way, "both")]
        self._told: set[tuple[object, ...]] = set()

    def step(self, paths: list[str]) -> list[Link]:
        """The links of ``paths`` that were not told yet: by note in the order given, its own links first."""
        place = {path: number for number, path in enumerate(paths)}
        found = [link for name in self._queries for link in self._ask(name, paths)]
        return sorted(found, key=lambda link: place[link[0]])

    def _ask(self, name: str, paths: list[str]) -> Iterator[Link]:
        query = of_several(query_of(name, self._asked[0].graph))
        self.last = ask_of(self._call.session, self._asked, query, {"paths": paths}, self._budget)
        columns = self.last.result.columns
        for row in self.last.result.rows:
            cell = dict(zip(columns, row, strict=True))
            of, line, kind, anchor = (cell[key] for key in ("of", "line", "type", "anchor"))
            other = cell["target" if name == "links" else "path"]
            ends = (of, other) if name == "links" else (other, of)
            if (key := (*ends, line, kind, anchor)) in self._told:
                continue
            self._told.add(key)
            way = "in" if name == "backlinks" else "out" if cell["resolved"] else UNRESOLVED
            yield cast("Link", (of, way, other, line, kind, anchor))
