"""The ground of a graph: what building found out about all notes, kept for graph/patch.

An edit of some notes is taken in by finding out again what those notes state, on the same ground, in place of building
the graph anew. Nothing in it is shown to anyone, and none of it is stored in a file.
"""

from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from vaultgraph.graph.catalogue import Catalogue
from vaultgraph.graph.folders import Folders
from vaultgraph.graph.known import Names, in_order
from vaultgraph.graph.nodes import Numbering
from vaultgraph.graph.shared import Shared

_LOST: Final = ("file", "destination", "target", "name", "key", "type", "display", "is_image")


@dataclass(frozen=True, slots=True)
class Ground:
    """``names``: what links are looked up in. ``labels`` and ``ids``: String by file row of the notes. ``shared``:
    without its mentions. ``elsewhere``: the link rows that do not lead to a note, of the columns in ``LinkRows`` those
    that are asked for, in the order of the records.
    ``by_name``: those that do by a name that is no path, as `found_by_name`."""

    catalogue: Catalogue
    names: Names
    labels: pl.Series
    ids: pl.Series
    folders: Folders
    shared: Shared
    elsewhere: pl.DataFrame
    by_name: pl.DataFrame
    numbering: Numbering

    @property
    def is_in_order(self) -> bool:
        """Whether few names are found at once."""
        return self.names.by_end is not None

    def in_order(self) -> "Ground":
        """The ground with names in order, by which few are found at once."""
        return replace(self, names=in_order(self.names))

    def without_mentions(self) -> "Ground":
        """The ground to keep: nobody asks it who mentions what, or where in a note a link to nothing is."""
        shared = replace(self.shared, mentions=self.shared.mentions.clear())
        return replace(self, shared=shared, elsewhere=self.elsewhere.select(_LOST))
