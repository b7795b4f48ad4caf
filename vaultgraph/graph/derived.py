"""What parts of notes add to a graph: nodes, properties, relationships, and other ends of links.

One step of build.py, taken only where the records hold pieces; it calls the modules that each do a part of it. It
changes nothing of what a graph is without pieces but the ends of links whose anchor names one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from vaultgraph.graph.catalogue import Catalogue
from vaultgraph.graph.columns import Segment
from vaultgraph.graph.derived_anchors import with_anchored_nodes
from vaultgraph.graph.derived_properties import derived_segments
from vaultgraph.graph.derived_relationships import as_written, held_pieces, table_relationships, without_tables
from vaultgraph.graph.graph import NodeGroup
from vaultgraph.graph.links import LinkRows, numbered_links
from vaultgraph.graph.nodes import Numbering
from vaultgraph.graph.pieces import ids_to_repeat, pieces_of
from vaultgraph.graph.unused_rules import rules_made
from vaultgraph.note.records import RecordTable
from vaultgraph.profile.settings import Profile


@dataclass(frozen=True, slots=True)
class Notes:
    """What parts of notes take from their notes: ``labels``, ``ids``, ``titles`` by file row, and ``stated``, their
    frontmatter as long rows with ``file``, its types converted."""

    labels: pl.Series
    ids: pl.Series
    titles: pl.Series
    stated: pl.DataFrame


def _no_segments() -> Mapping[str, list[Segment]]:
    return {}


@dataclass(frozen=True, slots=True)
class Derived:
    """What is added. ``links``: the links that are left for links.py, None for all as they are; ``written``: those that
    a report counts, None for all. ``refused``: cells that are not what `types:` declares. ``made``: names of rules."""

    groups: tuple[NodeGroup, ...] = ()
    segments: Mapping[str, list[Segment]] = field(default_factory=_no_segments)
    relationships: Sequence[pl.DataFrame] = ()
    links: LinkRows | None = None
    written: LinkRows | None = None
    refused: Sequence[pl.DataFrame] = ()
    made: frozenset[str] = frozenset()

    @property
    def node_count(self) -> int:
        """How many nodes there are more."""
        return self.groups[-1].stop - self.groups[0].first if self.groups else 0


NOTHING: Final = Derived()


def derived_of(
    records: RecordTable,
    catalogue: Catalogue,
    about: Notes,
    links: LinkRows,
    relations: pl.DataFrame,
    numbering: Numbering,
    profile: Profile,
) -> Derived:
    """What the pieces of the records add. ``relations``: as ``pieces.relations_of`` gives them; ``links`` know them."""
    ids = ids_to_repeat(about.ids)
    pieces = pieces_of(records, catalogue, about.labels, ids, numbering.node_count, profile)
    segments, refused = derived_segments(pieces, records.cells, about.stated, about.titles, ids, profile)
    anchored = with_anchored_nodes(links, pieces)
    relationships = held_pieces(pieces, numbering.of_file, profile.reading)
    wrong = [refused]
    if relations.height:
        numbered = numbered_links(anchored, numbering.of_file, numbering.of_key)
        tabled, refused = table_relationships(numbered, relations, pieces, records, profile)
        relationships += tabled
        wrong.append(refused)
    return Derived(
        groups=pieces.groups,
        segments=segments,
        relationships=relationships,
        links=without_tables(anchored) if relations.height else anchored,
        written=as_written(links) if relations.height else None,
        refused=wrong,
        made=rules_made(pieces.rows, relations),
    )
