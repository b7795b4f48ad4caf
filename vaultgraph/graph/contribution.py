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
from vaultgraph.graph.ground import Ground
from vaultgraph.graph.links import Destination, LinkRows, link_rows
from vaultgraph.graph.shared import written_mentions
from vaultgraph.note.records import RecordTable, rows_of_notes
from vaultgraph.profile.settings import Profile

_TABLES: Final = ("properties", "links", "tags")


@dataclass(frozen=True, slots=True)
class Contribution:
    """``links``: rows as in a build, ``order`` counts within them. ``written``: mentions of shared nodes as in
    `written_mentions`. ``problems``: as in ``Built``, without some that are the same before and after. ``counts``: of
    links, by what is counted, and of lacking anchors."""

    links: LinkRows
    written: pl.DataFrame
    problems: pl.DataFrame
    counts: Mapping[str, int]

    def of_files(self, files: Ids) -> "Contribution":
        """Links and mentions of some of the notes only, given by file row; problems and counts stay those of all."""
        chosen = pl.Series(files).implode()
        rows, elsewhere = self.links.rows, self.links.elsewhere
        links = LinkRows(rows.filter(pl.col("file").is_in(chosen)), elsewhere.filter(pl.col("file").is_in(chosen)))
        return Contribution(links, self.written.filter(pl.col("file").is_in(chosen)), self.problems, self.counts)


def contributions(
    before: RecordTable, after: RecordTable, notes: Ids, ground: Ground, profile: Profile
) -> tuple[Contribution, Contribution]:
    """What the notes at the rows ``notes``, ascending, gave and give; both records have the same notes and names."""
    sides = (before, after)
    tables = [
        {name: with_file(rows_of_notes(getattr(side, name), notes.tolist()), ground.catalogue) for name in _TABLES}
        for side in sides
    ]
    # One look-up for both sides: it costs the same for a few rows more.
    asked = [table["links"].with_columns(side=pl.lit(side, pl.UInt8)) for side, table in enumerate(tables)]
    links = link_rows(pl.concat(asked), ground.catalogue, ground.names, profile)
    own = [_of_side(links, side) for side in (0, 1)]
    # What is equal on both sides has the same problems, which need no words: they stay.
    is_lost_same = own[0].elsewhere.drop("order").equals(own[1].elsewhere.drop("order"))
    is_stated_same = tables[0]["properties"].equals(tables[1]["properties"])
    is_written_same = is_stated_same and tables[0]["tags"].equals(tables[1]["tags"])
    mentions = [written_mentions(tables[0]["tags"], tables[0]["properties"], profile)]
    mentions += mentions if is_written_same else [written_mentions(tables[1]["tags"], tables[1]["properties"], profile)]
    paths = ground.catalogue.files["path"]
    given: list[Contribution] = []
    for records, table, rows, written in zip(sides, tables, own, mentions, strict=True):
        lacking = _lacking(rows, records, ground)
        found = [
            wording.lacking_anchors(lacking, paths),
            wording.stated_problems(rows_of_notes(records.problems, notes.tolist()), records.listing["path"]),
        ]
        if not is_lost_same:
            found += wording.unresolved(rows, paths)
        if not is_stated_same:
            found += stated_properties(table["properties"], ground.labels, paths, profile)[1]
        counts = wording.link_counts(rows, ground.catalogue, ground.folders) | {"missing_anchors": lacking.height}
        given.append(Contribution(rows, written, wording.collected(found), counts))
    return given[0], given[1]


def notes_of_files(ground: Ground) -> Ids:
    """``int64[files]``: the row of the records of each file row, -1 for files that are not read."""
    rows = ground.catalogue.row_of_note
    notes = np.full(ground.catalogue.files.height, -1, dtype=np.int64)
    read = np.flatnonzero(rows >= 0)
    notes[rows[read]] = read
    return notes


def _of_side(links: LinkRows, side: int) -> LinkRows:
    is_own = pl.col("side") == side
    return LinkRows(links.rows.filter(is_own).drop("side"), links.elsewhere.filter(is_own).drop("side"))


def _lacking(links: LinkRows, records: RecordTable, ground: Ground) -> pl.DataFrame:
    asked = links.towards(Destination.NOTE).filter(pl.col("anchor").is_not_null())
    if not asked.height:
        return asked
    reached = notes_of_files(ground)[asked["target"].unique().to_numpy()]
    headings, blocks = (
        with_file(rows_of_notes(frame, np.sort(reached).tolist()), ground.catalogue)
        for frame in (records.headings, records.blocks)
    )
    return missing_anchors(asked, headings, blocks)
