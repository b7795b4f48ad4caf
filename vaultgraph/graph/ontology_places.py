"""Where violations of an ontology are: node groups of a class, and nodes as the paths and lines of a report.

Reads a finished Graph. It judges nothing.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.frozen import frozen
from vaultgraph.graph.columns import Column, Ids, gather
from vaultgraph.graph.graph import Graph, group_index
from vaultgraph.profile.ontology import Ontology

Flags = npt.NDArray[np.bool_]
NAME_CHARS: Final = 100


def clipped(text: str) -> str:
    """A text of the configuration as a message has it: a message is repeated for every node it is about."""
    return text if len(text) <= NAME_CHARS else text[: NAME_CHARS - 1] + "…"


def about_class(name: str) -> str:
    """How messages about a class begin."""
    return f"class {clipped(name)}: "


def about_relationship(name: str) -> str:
    """How messages about a relationship type begin."""
    return f"relationship {clipped(name)}: "


@frozen
class Extents:
    """Which nodes belong to which class: ``descendants`` of each class with itself, ``graph`` the nodes."""

    graph: Graph
    descendants: Mapping[str, frozenset[str]]

    def groups(self, *names: str) -> Flags:
        """Whether each node group belongs to one of the classes, or has one of ``names`` as a label."""
        wanted = {label for name in names for label in self.descendants.get(name, (name,))}
        return np.array([not wanted.isdisjoint(group.labels) for group in self.graph.groups], dtype=np.bool_)

    def ids(self, *names: str) -> Ids:
        """The nodes of the classes, ascending."""
        return self.of_groups(self.groups(*names))

    def of_groups(self, chosen: Flags) -> Ids:
        """The nodes of the groups that are chosen, ascending."""
        groups = [group for group, is_chosen in zip(self.graph.groups, chosen, strict=True) if is_chosen]
        spans = [np.arange(group.first, group.stop, dtype=np.int64) for group in groups]
        return np.concatenate(spans) if spans else np.zeros(0, dtype=np.int64)

    def have(self, nodes: Ids, *names: str) -> Flags:
        """Whether each node belongs to one of the classes."""
        return self.groups(*names)[group_index(self.graph, nodes)]

    def own_labels(self, nodes: Ids) -> pl.Series:
        """The label each node shows first, "node" for one without."""
        labels = pl.Series(
            [group.labels[0] if group.labels else "node" for group in self.graph.groups], dtype=pl.String
        )
        return labels.gather(group_index(self.graph, nodes))


def extents_of(graph: Graph, ontology: Ontology) -> Extents:
    """The extents of all classes of ``ontology`` in ``graph``."""
    return Extents(graph, ontology.descendants())


def node_places(graph: Graph, nodes: Ids) -> pl.Series:
    """How a report names each node: its path, for a part of a note the note's path, else its id."""
    places = texts_of(graph.node_columns.get("path"), nodes)
    lacking = places.is_null().arg_true()
    if not len(lacking):
        return places
    others = nodes[lacking.to_numpy()]
    ids, owners = (texts_of(graph.node_columns.get(name), others) for name in ("id", "note_id"))
    if owners.null_count() < len(owners):
        owners = owners.replace_strict(*_notes(graph), default=None, return_dtype=pl.String)
    found = pl.DataFrame({"owner": owners, "id": ids}).select(place=pl.coalesce("owner", "id", pl.lit("")))["place"]
    return places.scatter(lacking, found)


def node_lines(graph: Graph, nodes: Ids) -> pl.Series:
    """The line in its note at which a part of a note begins, Int64; null for every other node."""
    lines = integers_of(graph.node_columns.get("line"), nodes)
    owners = texts_of(graph.node_columns.get("note_id"), nodes)
    return pl.select(pl.when(owners.is_not_null()).then(lines)).to_series()


def texts_of(column: Column | None, ids: Ids) -> pl.Series:
    """The texts of a column, String; null for other values."""
    return _only(column, ids, pl.String())


def integers_of(column: Column | None, ids: Ids) -> pl.Series:
    """The integers of a column, Int64; null for other values."""
    return _only(column, ids, pl.Int64())


def _only(column: Column | None, ids: Ids, dtype: pl.DataType) -> pl.Series:
    values = pl.repeat(None, len(ids), dtype=dtype, eager=True)
    for part in gather(column, ids):
        if part.series.dtype == dtype:
            values = part.series if part.rows is None else values.scatter(part.rows, part.series)
    return values


def _notes(graph: Graph) -> tuple[pl.Series, pl.Series]:
    """The ids of notes and their paths."""
    paths = graph.node_columns.get("file_path")
    if paths is None:
        return pl.Series(dtype=pl.String), pl.Series(dtype=pl.String)
    notes = np.concatenate([np.arange(part.first, part.stop, dtype=np.int64) for part in paths.segments])
    frame = pl.DataFrame({"id": texts_of(graph.node_columns.get("id"), notes), "path": texts_of(paths, notes)})
    frame = frame.drop_nulls().unique("id", keep="first", maintain_order=True)
    return frame["id"], frame["path"]
