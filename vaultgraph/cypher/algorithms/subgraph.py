"""The part of a graph an algorithm runs on, as plain arrays, and its adjacency with parallel relationships as one.

Made by algorithms/calls from the options. Nodes are numbered 0 … n - 1 in the order of their ids; results go back
through ``nodes``.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.cypher.advice import nearest
from vaultgraph.cypher.algorithms.options import Options, Place
from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.operators import Direction
from vaultgraph.errors import EvaluationError
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.graph import Graph, label_counts, ranges_of_label

Reals = npt.NDArray[np.float64]
_SHOWN: Final = 12  # names in an error


@dataclass(frozen=True, slots=True)
class Subgraph:
    """``nodes: int64[n]`` graph ids, ascending. ``sources``, ``targets``: ``int64[m]`` positions in ``nodes``;
    ``relationships: int64[m]`` global ids; ``weights: float64[m]``, None where the call names no weight."""

    nodes: Ids
    sources: Ids
    targets: Ids
    relationships: Ids
    weights: Reals | None = None

    @property
    def size(self) -> int:
        """How many nodes."""
        return len(self.nodes)

    def arcs(self, direction: Direction) -> tuple[Ids, Ids, Reals]:
        """From, to and weight (1 without weights) of every way to walk: ``int64[k]``; ``both`` has each way twice,
        but a loop once."""
        weights = np.ones(len(self.sources)) if self.weights is None else self.weights
        if direction == "out":
            return self.sources, self.targets, weights
        if direction == "in":
            return self.targets, self.sources, weights
        back = self.sources != self.targets
        return (
            np.concatenate([self.sources, self.targets[back]]),
            np.concatenate([self.targets, self.sources[back]]),
            np.concatenate([weights, weights[back]]),
        )


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Who is beside whom, each once and never oneself: of node i ``ids[offsets[i]:offsets[i + 1]]``, ascending."""

    offsets: Ids
    ids: Ids

    def expand(self, nodes: Ids) -> tuple[Ids, Ids]:
        """(position in ``nodes``, neighbour) of all neighbours of ``nodes``: ``int64[k]``."""
        starts = self.offsets[nodes]
        counts = self.offsets[nodes + 1] - starts
        before = np.cumsum(counts) - counts
        slots = np.arange(int(counts.sum()), dtype=np.int64) + np.repeat(starts - before, counts)
        return np.repeat(np.arange(len(nodes), dtype=np.int64), counts), self.ids[slots]


def neighbours(graph: Subgraph, direction: Direction, budget: Budget) -> Neighbours:
    """The adjacency in one direction, without loops, parallel relationships as one."""
    sources, targets, _ = graph.arcs(direction)
    budget.check(len(sources), 32 * len(sources))
    keys = sources * graph.size + targets
    keys = keys[sources != targets]
    if len(keys) and not bool((keys[1:] > keys[:-1]).all()):
        keys.sort()
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    budget.check()
    return adjacency(keys // max(graph.size, 1), keys % max(graph.size, 1), graph.size)


def sums(places: Ids, amounts: Reals, size: int) -> Reals:
    """The sum of the amounts at each of ``size`` places, ``float64[size]``."""
    return np.bincount(places, weights=amounts, minlength=size).astype(np.float64, copy=False)


def adjacency(sources: Ids, targets: Ids, size: int) -> Neighbours:
    """The adjacency of arcs that are sorted by source."""
    offsets = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(sources, minlength=size), out=offsets[1:])
    return Neighbours(offsets, targets)


def choose_subgraph(graph: Graph, options: Options, budget: Budget) -> Subgraph:
    """The nodes with one of ``labels`` among ``nodes``, and the relationships of ``types`` between them.

    Raises:
        EvaluationError: a label or type is not in the graph.
        BudgetError: it has more relationships than the cap of rows.
    """
    ids = _nodes(graph, options)
    places = np.full(graph.node_count, -1, dtype=np.int64)
    places[ids] = np.arange(len(ids), dtype=np.int64)
    parts: list[tuple[Ids, Ids, Ids]] = []
    count = 0
    for name in _types(graph, options):
        table = graph.relationships[name]
        sources, targets = places[table.sources], places[table.targets]
        rows = np.flatnonzero((sources >= 0) & (targets >= 0))
        parts.append((sources[rows], targets[rows], rows + table.first))
        count += len(rows)
        budget.check(count, 24 * count)
    empty = np.zeros(0, dtype=np.int64)
    columns = [np.concatenate([empty, *(part[column] for part in parts)]) for column in range(3)]
    return Subgraph(ids, columns[0], columns[1], columns[2])


def _nodes(graph: Graph, options: Options) -> Ids:
    chosen = np.ones(graph.node_count, dtype=np.bool_)
    if options.labels is not None:
        known = label_counts(graph)
        _check_known("label", options.labels, list(known))
        chosen[:] = False
        for label in options.labels:
            for first, stop in ranges_of_label(graph, label):
                chosen[first:stop] = True
    if options.nodes is not None:
        among = np.zeros(graph.node_count, dtype=np.bool_)
        among[np.array(options.nodes, dtype=np.int64)] = True
        chosen &= among
    return np.flatnonzero(chosen)


def _types(graph: Graph, options: Options) -> list[str]:
    if options.types is None:
        return list(graph.relationships)
    _check_known("relationship type", options.types, list(graph.relationships))
    return [name for name in graph.relationships if name in options.types]


def _check_known(what: str, asked: tuple[str, ...], known: list[str]) -> None:
    for name in asked:
        if name not in known:
            advice = nearest(name, known)
            more = ", …" if len(known) > _SHOWN else ""
            raise EvaluationError(
                f"There is no {what} {name!r} in the graph"
                + (f"; did you mean {advice}?" if advice else ".")
                + f" There are: {', '.join(known[:_SHOWN]) or 'none'}{more}."
            )


def places_of(graph: Graph, part: Subgraph, wanted: tuple[Place, ...], what: str) -> Ids:
    """The positions in ``part`` of nodes given as ids or as paths, each once, in the order they are given.

    Raises:
        EvaluationError: one is no node, several nodes, or not in the subgraph.
    """
    found: dict[int, None] = {}
    for place in wanted:
        node = _node_at(graph, part, place, what) if isinstance(place, str) else place
        position = int(np.searchsorted(part.nodes, node))
        if position == part.size or part.nodes[position] != node:
            shown = f" {place!r}" if isinstance(place, str) else ""
            raise EvaluationError(
                f"The node{shown} given as {what} is not in the subgraph: its labels are not among `labels`, or it is "
                "not among `nodes`."
            )
        found[position] = None
    return np.array(list(found), dtype=np.int64)


def _node_at(graph: Graph, part: Subgraph, path: str, what: str) -> int:
    """The node of a path; where several share it, the only one of them in the subgraph."""
    ids: list[int] = []
    column = graph.node_columns.get("path")
    for segment in () if column is None else column.segments:
        if segment.series.dtype == pl.String:
            ids += ((segment.series == path).arg_true() + segment.first).to_list()
    inside = [node for node in ids if node in part.nodes] if len(ids) > 1 else ids
    if len(inside) > 1:
        raise EvaluationError(
            f"{len(inside):,} nodes have the path {path!r}: give {what} as a node, or narrow `labels`."
        )
    if not ids:
        raise EvaluationError(f"No node has the path {path!r} given as {what}: paths are relative to the vault.")
    return (inside or ids)[0]
