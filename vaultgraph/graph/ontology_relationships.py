"""Holding relationships against the ontology: their ends, how many there are, and what must lead back or on.

Works on the sorted ends and the adjacency of a table. Properties are ontology_properties.py's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.graph.columns import Column, Gathered, Ids, gather
from vaultgraph.graph.csr import Csr
from vaultgraph.graph.graph import RelationshipTable
from vaultgraph.graph.ontology_places import Extents, Flags, clipped, node_places
from vaultgraph.graph.ontology_properties import as_text
from vaultgraph.profile.ontology import RelationshipClass

MOST_CHAINS: Final = 1_000_000  # pairs of relationships one after the other that `transitive` looks at
Pairs = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class BrokenRelationships:
    """One demand that relationships do not meet: ``rows`` of their table, a message for each."""

    check: str
    code: str
    rows: Ids
    messages: pl.Series


@dataclass(frozen=True, slots=True)
class BrokenNodes:
    """One demand on how many relationships nodes have: ``nodes`` that do not meet it, a message for each."""

    check: str
    code: str
    nodes: Ids
    messages: pl.Series


def wrong_ends(
    declared: RelationshipClass, table: RelationshipTable, extents: Extents, provisional: Flags
) -> Iterator[BrokenRelationships]:
    """Relationships from outside the domain, and to outside the range.

    ``provisional``: node by node, what only links name; it has no label of its own yet, so no range leaves it out.
    """
    sources, targets = _ends(table)
    if declared.domain is not None:
        rows = np.flatnonzero(~extents.have(sources, declared.domain))
        words = ["comes from ", extents.own_labels(sources[rows]), ", but the domain is ", clipped(declared.domain)]
        yield BrokenRelationships("domain", "ontology-ends", rows, _towards(extents, targets[rows], words))
    if declared.range is not None:
        rows = np.flatnonzero(~(extents.have(targets, declared.range) | provisional[targets]))
        words = ["leads to ", extents.own_labels(targets[rows]), ", but the range is ", clipped(declared.range)]
        yield BrokenRelationships("range", "ontology-ends", rows, _towards(extents, targets[rows], words))


def wrong_counts(declared: RelationshipClass, adjacency: Csr | None, extents: Extents) -> Iterator[BrokenNodes]:
    """Nodes of the domain that have too few or too many; without a domain, of the nodes that have any.

    ``adjacency``: the outgoing relationships of the type, None where there are none.
    """
    if not declared.required and declared.least is None and declared.most is None:
        return
    if declared.domain is not None:
        nodes = extents.ids(declared.domain)
    elif adjacency is not None:
        nodes = adjacency.first + np.flatnonzero(np.diff(adjacency.offsets.astype(np.int64)))
    else:
        return
    degrees = adjacency.degrees(nodes) if adjacency is not None else np.zeros(len(nodes), dtype=np.int64)
    is_missing = np.zeros(len(nodes), dtype=np.bool_)
    if declared.required:
        is_missing = degrees == 0
        judged = nodes[is_missing]
        if exempt := declared.exempt.get("required"):
            judged = judged[~extents.have(judged, *exempt)]
        message = pl.repeat("every node of the domain needs one, and this node has none.", len(judged), eager=True)
        yield BrokenNodes("required", "ontology-count", judged, message)
    bounds = [(declared.least, "at least", degrees < (declared.least or 0)), (declared.most, "at most", None)]
    for bound, words, is_few in bounds:
        if bound is None:
            continue
        chosen = (is_few & ~is_missing) if is_few is not None else degrees > bound
        counts = pl.Series(degrees[chosen])
        message = _worded([counts.cast(pl.String), f" from this node, but there must be {words} {bound}"])
        yield BrokenNodes("cardinality", "ontology-count", nodes[chosen], message)


def repeated(declared: RelationshipClass, table: RelationshipTable, extents: Extents) -> Iterator[BrokenRelationships]:
    """Relationships beyond the first between the same ends with the same values of the `distinct` properties."""
    if declared.distinct is None:
        return
    sources, targets = _ends(table)
    rows = np.arange(len(sources), dtype=np.int64)
    values = {f"value{at}": _comparable(table.columns.get(key), rows) for at, key in enumerate(declared.distinct)}
    frame = pl.DataFrame({"source": sources, "target": targets, **values})
    surplus = (
        frame.select(again=~pl.struct(pl.all()).is_first_distinct())["again"].arg_true().to_numpy().astype(np.int64)
    )
    if exempt := declared.exempt.get("distinct"):
        surplus = surplus[~extents.have(sources[surplus], *exempt)]
    same = f" with the same {clipped(', '.join(declared.distinct))}" if declared.distinct else ""
    message = _towards(extents, targets[surplus], [f"is there more than once{same}"])
    yield BrokenRelationships("distinct", "ontology-count", surplus, message)


def without_return(
    declared: RelationshipClass, table: RelationshipTable, back: RelationshipTable | None, extents: Extents
) -> Iterator[BrokenRelationships]:
    """Relationships that nothing leads back from: by the same type where `symmetric`, by ``back`` where enforced."""
    sources, targets = _ends(table)
    first = _first_of_pairs(table)
    if declared.symmetric:
        rows = first[~_has(table, targets[first], sources[first])]
        message = _towards(extents, targets[rows], ["needs one that leads back, as the type is symmetric"])
        yield BrokenRelationships("symmetric", "ontology-pair", rows, message)
    if declared.inverse_enforced:
        rows = first[~_has(back, targets[first], sources[first])]
        message = _towards(extents, targets[rows], [f"needs a {clipped(declared.inverse_name or '')} that leads back"])
        yield BrokenRelationships("inverse", "ontology-pair", rows, message)


def without_shortcut(table: RelationshipTable, extents: Extents) -> tuple[BrokenRelationships, bool]:
    """Of two relationships one after the other, the first, where none leads from its source to where the second ends.

    Says each missing relationship once. Also whether all were looked at: MOST_CHAINS are.
    """
    sources, targets = _ends(table)
    first = _first_of_pairs(table)
    totals = np.cumsum(table.outgoing.degrees(targets[first]))
    kept = first[: int(np.searchsorted(totals, MOST_CHAINS, side="right"))]
    positions, ends, _ = table.outgoing.expand(targets[kept])
    rows = kept[positions]
    is_open = (sources[rows] != ends) & ~_has(table, sources[rows], ends)
    rows, ends = rows[is_open], ends[is_open]
    _, chosen = np.unique(_packed(sources[rows], ends), return_index=True)
    chosen = np.sort(chosen)
    rows, ends = rows[chosen], ends[chosen]
    middle, far = node_places(extents.graph, targets[rows]), node_places(extents.graph, ends)
    message = _worded(
        [
            "the ones to '",
            middle,
            "' and on to '",
            far,
            "' need one that leads straight there, as the type is transitive",
        ]
    )
    return BrokenRelationships("transitive", "ontology-pair", rows, message), len(kept) == len(first)


def _ends(table: RelationshipTable) -> tuple[Ids, Ids]:
    return table.sources.astype(np.int64), table.targets.astype(np.int64)


def _packed(sources: Ids, targets: Ids) -> Pairs:
    return (sources.astype(np.uint64) << np.uint64(32)) | targets.astype(np.uint64)


def _first_of_pairs(table: RelationshipTable) -> Ids:
    """Rows of the first relationship between each two nodes; a table is sorted by its ends."""
    pairs = _packed(*_ends(table))
    return np.flatnonzero(np.append(True, pairs[1:] != pairs[:-1])).astype(np.int64) if len(pairs) else _no_rows()


def _no_rows() -> Ids:
    return np.zeros(0, dtype=np.int64)


def _has(table: RelationshipTable | None, sources: Ids, targets: Ids) -> Flags:
    """Whether a relationship of ``table`` leads from each source to the target beside it."""
    if table is None or not len(table.sources):
        return np.zeros(len(sources), dtype=np.bool_)
    known, asked = _packed(*_ends(table)), _packed(sources, targets)
    places = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return known[places] == asked


def _comparable(column: Column | None, rows: Ids) -> pl.Series:
    """Values as texts that are equal when the values are; an integer equals a float of the same value."""
    values = pl.repeat(None, len(rows), dtype=pl.String, eager=True)
    for part in gather(column, rows):
        texts = _with_equal_numbers(part)
        values = texts if part.rows is None else values.scatter(part.rows, texts)
    return values


def _with_equal_numbers(part: Gathered) -> pl.Series:
    return as_text(part.series).str.replace(r"^(-?\d+)\.0$", "${1}")


def _towards(extents: Extents, targets: Ids, words: Sequence[str | pl.Series]) -> pl.Series:
    """A message that also says where the relationship leads."""
    return _worded(["the one to '", node_places(extents.graph, targets), "' ", *words])


def _worded(words: Sequence[str | pl.Series]) -> pl.Series:
    """Texts and columns of texts put together, with a full stop."""
    columns: Mapping[str, pl.Series] = {
        f"word{at}": word for at, word in enumerate(words) if isinstance(word, pl.Series)
    }
    parts = [pl.lit(word) if isinstance(word, str) else pl.col(f"word{at}") for at, word in enumerate(words)]
    return pl.DataFrame(columns).select(text=pl.concat_str(*parts, pl.lit(".")))["text"]
