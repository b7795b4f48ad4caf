"""What some notes give to a graph: their links, mentions and problems, on the ground of a graph that was built.

Part of taking an edit in (graph/patch): found out twice, by what the notes stated before and by what they state now.
The rules are those of a build, because its functions are called; only the rows are fewer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.graph import problems as wording
from vaultgraph.graph.anchors import missing_anchors
from vaultgraph.graph.build import stated_properties, with_file
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.folders import CONTAINS
from vaultgraph.graph.ground import Ground
from vaultgraph.graph.links import Destination, LinkRows, link_rows
from vaultgraph.graph.shared import mention_types, written_mentions
from vaultgraph.note.records import RecordTable, rows_of_notes
from vaultgraph.profile.settings import Profile

Stated = Mapping[str, tuple[pl.DataFrame, pl.DataFrame]]
"""The rows of some notes by table of the records, before and after."""

_STATED: Final = ("properties", "links", "tags", "headings", "blocks", "problems")
_TABLES: Final = ("properties", "links", "tags")


@dataclass(frozen=True, slots=True)
class Contribution:
    """``links``: rows as in a build, ``order`` counts within them. ``written``: mentions of shared nodes as in
    `written_mentions`; None where they are the same before and after, and nothing else has a type one might have.
    ``problems``: as in ``Built``, without some that are the same before and after. ``counts``: of links, by what is
    counted, and of lacking anchors."""

    links: LinkRows
    written: pl.DataFrame | None
    problems: pl.DataFrame
    counts: Mapping[str, int]

    def of_files(self, files: Ids) -> "Contribution":
        """Links and mentions of some of the notes only, given by file row; problems and counts stay those of all."""
        chosen = pl.Series(files).implode()
        rows, elsewhere = self.links.rows, self.links.elsewhere
        links = LinkRows(rows.filter(pl.col("file").is_in(chosen)), elsewhere.filter(pl.col("file").is_in(chosen)))
        written = None if self.written is None else self.written.filter(pl.col("file").is_in(chosen))
        return Contribution(links, written, self.problems, self.counts)


def stated_by(before: RecordTable, after: RecordTable, notes: Ids) -> Stated:
    """What the notes at the rows ``notes``, ascending, stated and state."""
    rows = notes.tolist()
    return {
        name: (rows_of_notes(getattr(before, name), rows), rows_of_notes(getattr(after, name), rows))
        for name in _STATED
    }


def contributions(
    records: tuple[RecordTable, RecordTable], stated: Stated, ground: Ground, profile: Profile
) -> tuple[Contribution, Contribution]:
    """What the notes gave and give of which ``stated`` is; both ``records`` have the same notes and names."""
    tables = {name: [with_file(rows, ground.catalogue) for rows in stated[name]] for name in _TABLES}
    properties, tags = tables["properties"], tables["tags"]
    links = _links(tables["links"], ground, profile)
    # What is equal on both sides has the same problems, which need no words: they stay.
    is_lost_same = without(links[0].elsewhere, "order").equals(without(links[1].elsewhere, "order"))
    is_stated_same = properties[0].equals(properties[1])
    mentions: list[pl.DataFrame | None] = [None, None]
    others = {CONTAINS, profile.folder_notes.edge, *(name for own in links for name in own.rows["type"])}
    if not (is_stated_same and tags[0].equals(tags[1])) or mention_types(profile) & others:
        mentions = [written_mentions(own, stated, profile) for own, stated in zip(tags, properties, strict=True)]
    paths = ground.catalogue.files["path"]
    given: list[Contribution] = []
    for side, own in enumerate(links):
        lacking = _lacking(own, records[side], ground)
        found = [
            wording.lacking_anchors(lacking, paths),
            wording.stated_problems(stated["problems"][side], records[side].listing["path"]),
        ]
        if not is_lost_same:
            found += wording.unresolved(own, paths)
        if not is_stated_same:
            found += stated_properties(properties[side], ground.labels, paths, profile)[1]
        counts = wording.link_counts(own, ground.catalogue, ground.folders) | {"missing_anchors": lacking.height}
        given.append(Contribution(own, mentions[side], wording.collected(found), counts))
    return given[0], given[1]


def without(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """``frame`` without some columns; what polars has for it costs ten times as much for a few rows."""
    return pl.DataFrame([column for column in frame.iter_columns() if column.name not in names])


def _links(stated: list[pl.DataFrame], ground: Ground, profile: Profile) -> list[LinkRows]:
    """The links of both sides: looked up at once, which costs the same for a few rows more."""
    sides = [pl.Series("side", [side], dtype=pl.UInt8) for side in range(len(stated))]
    asked = [rows.with_columns(side.new_from_index(0, rows.height)) for rows, side in zip(stated, sides, strict=True)]
    links = link_rows(pl.concat(asked), ground.catalogue, ground.names, profile)
    own: list[list[pl.DataFrame]] = []
    for rows in (links.rows, links.elsewhere):
        stop, rows = int((rows["side"] == 0).sum()), without(rows, "side")
        own.append([rows[:stop], rows[stop:]])
    return [LinkRows(rows, elsewhere) for rows, elsewhere in zip(*own, strict=True)]


def notes_of_files(ground: Ground) -> Ids:
    """``int64[files]``: the row of the records of each file row, -1 for files that are not read."""
    rows = ground.catalogue.row_of_note
    notes = np.full(ground.catalogue.files.height, -1, dtype=np.int64)
    read = np.flatnonzero(rows >= 0)
    notes[rows[read]] = read
    return notes


def _lacking(links: LinkRows, records: RecordTable, ground: Ground) -> pl.DataFrame:
    anchors = links.rows["anchor"]
    if anchors.null_count() == len(anchors):
        return links.rows.clear()
    asked = links.towards(Destination.NOTE).filter(pl.col("anchor").is_not_null())
    if not asked.height:
        return asked
    reached = notes_of_files(ground)[asked["target"].unique().to_numpy()]
    headings, blocks = (
        with_file(rows_of_notes(frame, np.sort(reached).tolist()), ground.catalogue)
        for frame in (records.headings, records.blocks)
    )
    return missing_anchors(asked, headings, blocks)
