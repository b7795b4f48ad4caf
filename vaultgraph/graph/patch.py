"""A graph brought up to an edit of text alone, without building it anew.

Most edits change words: no link, tag, heading, block id or property comes or goes, at most they move to other lines.
Then only bodies, sizes and lines differ from the graph before. Whatever else differs is left to graph/build, and what
is made here equals what that would make.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from vaultgraph.graph.built import Built
from vaultgraph.graph.columns import Column, Ids, Segment
from vaultgraph.graph.graph import Graph, RelationshipTable
from vaultgraph.note.records import RecordTable, rows_of_note
from vaultgraph.profile.settings import Profile

MOST_NOTES: Final = 32  # changed at once; beyond it building anew is as quick
_SAME: Final = ("path", "is_canvas", "is_skipped", "title", "body_line")
_MOVABLE: Final = ("links", "tags", "headings", "blocks", "problems")
_BY_ROW: Final = ("body", "size_bytes")


@dataclass(frozen=True, slots=True)
class _Edit:
    """One changed note: its node, its values, and where its lines went (only those that something is stated on)."""

    node: int
    path: str
    values: Mapping[str, object]
    lines: Mapping[int, int]

    @property
    def is_moved(self) -> bool:
        return any(old != new for old, new in self.lines.items())


def patched(old: Built, before: RecordTable, after: RecordTable, notes: Ids, profile: Profile) -> Built | None:
    """What graph/build would make of ``after``; None where it has to be asked.

    ``old`` was built from ``before`` by ``profile``, and from the same files. Both records have the same notes; those
    at the rows ``notes`` may differ.
    """
    if len(notes) > MOST_NOTES or before.pieces.height or after.pieces.height or profile.ontology:
        return None
    edits: list[_Edit] = []
    nodes = old.graph.node_columns.get("file_path")
    if nodes is None or len(nodes.segments) != 1:
        return None
    for note in notes.tolist():  # row loop: the changed notes, at most MOST_NOTES
        lines = _moved_lines(before, after, note)
        row = after.notes.row(note, named=True)
        found = (nodes.segments[0].series == row["path"]).arg_true()
        if lines is None or row["is_skipped"] or row["is_canvas"] or len(found) != 1:
            return None
        node = nodes.segments[0].first + int(found[0])
        edits.append(_Edit(node, row["path"], {name: row[name] for name in _BY_ROW}, lines))
    moved = [edit for edit in edits if edit.is_moved]
    if moved and profile.edge_defaults:
        return None
    tables = _relationships(old.graph, moved)
    problems = _problems(old.problems, moved)
    columns = _node_columns(old.graph, edits)
    if tables is None or problems is None or columns is None:
        return None
    return Built(replace(old.graph, node_columns=columns, relationships=tables), problems, old.counts)


def _moved_lines(before: RecordTable, after: RecordTable, note: int) -> dict[int, int] | None:
    """The new line of each line on which the note states something; None where more than lines differ."""
    was, now = before.notes[note : note + 1], after.notes[note : note + 1]
    if not was.select(_SAME).equals(now.select(_SAME)) or was["body"].null_count() or now["body"].null_count():
        return None
    if not rows_of_note(before.properties, note).equals(rows_of_note(after.properties, note)):
        return None
    lines: dict[int, int] = {}
    old_tables, new_tables = before.tables(), after.tables()
    for name in _MOVABLE:
        old, new = rows_of_note(old_tables[name], note), rows_of_note(new_tables[name], note)
        if old.height != new.height or not old.drop("line").equals(new.drop("line")):
            return None
        # row loop: what the changed notes state
        for from_line, to_line in zip(old["line"].to_list(), new["line"].to_list(), strict=True):
            if (from_line is None) != (to_line is None) or lines.setdefault(from_line, to_line) != to_line:
                return None
    lines.pop(None, None)  # pyright: ignore[reportArgumentType, reportCallIssue] -- problems of a whole file
    goals = [lines[line] for line in sorted(lines)]
    return lines if goals == sorted(goals) else None


def _node_columns(graph: Graph, edits: list[_Edit]) -> dict[str, Column] | None:
    columns = dict(graph.node_columns)
    nodes = [edit.node for edit in edits]
    for name in _BY_ROW:
        column = columns.get(name)
        changed = _with_values(column, nodes, [edit.values[name] for edit in edits]) if column is not None else None
        if changed is None:
            return None
        columns[name] = changed
    return columns


def _with_values(column: Column, ids: list[int], values: list[object]) -> Column | None:
    """The column with other values for some ids, all of which one segment must hold."""
    segments = list(column.segments)
    for at, segment in enumerate(segments):
        if segment.first <= min(ids) and max(ids) < segment.stop:
            series = segment.series
            rows = np.arange(len(series), dtype=np.uint32)
            rows[np.array(ids) - segment.first] = len(series) + np.arange(len(ids))
            fresh = pl.Series(series.name, values, dtype=series.dtype)
            segments[at] = Segment(segment.first, pl.concat([series, fresh]).rechunk()[rows])
            return Column(tuple(segments))
    return None


def _relationships(graph: Graph, moved: list[_Edit]) -> Mapping[str, RelationshipTable] | None:
    if not moved:
        return graph.relationships
    tables = dict(graph.relationships)
    for name, table in graph.relationships.items():
        column = table.columns.get("line")
        if column is None:
            continue
        rows: list[int] = []
        lines: list[object] = []
        for edit in moved:  # row loop: the changed notes
            first, stop = np.searchsorted(table.sources, [edit.node, edit.node + 1]).tolist()
            if first == stop:
                continue
            found = _cells(column, first, stop)
            properties = _cells(table.columns["property"], first, stop) if "property" in table.columns else []
            if found is None or properties is None:
                return None
            # what a property states has not moved; a link to the parent, turned round, is another note's at that
            own = [at for at, line in enumerate(found) if line is not None and not (properties and properties[at])]
            if not {found[at] for at in own} <= edit.lines.keys():
                return None
            rows += [first + at for at in own]
            lines += [edit.lines[found[at]] for at in own]
        if rows:
            changed = _with_values(column, rows, lines)
            if changed is None:
                return None
            tables[name] = replace(table, columns={**table.columns, "line": changed})
    return tables


def _cells(column: Column, first: int, stop: int) -> list[Any] | None:
    """The cells of consecutive rows where one segment holds them; none where no segment does."""
    for segment in column.segments:
        if segment.first <= first and stop <= segment.stop:
            return segment.series.slice(first - segment.first, stop - first).to_list()
        if segment.first < stop and first < segment.stop:
            return None
    return []


def _problems(problems: pl.DataFrame, moved: list[_Edit]) -> pl.DataFrame | None:
    for edit in moved:  # row loop: the changed notes
        is_own = problems["path"] == edit.path
        at = is_own.arg_true()
        if not len(at):
            continue
        own = problems.filter(is_own)
        lines = own["line"].to_list()
        if not {line for line in lines if line is not None} <= edit.lines.keys():
            return None
        new_lines = [line if line is None else edit.lines[line] for line in lines]
        own = own.with_columns(line=pl.Series(new_lines, dtype=pl.Int32))
        own = own.sort("line", "code", "message", nulls_last=False)
        first = int(at[0])
        problems = pl.concat([problems[:first], own, problems[first + own.height :]]).rechunk()
    return problems
