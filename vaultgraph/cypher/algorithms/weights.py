"""The weights of a subgraph's relationships, from one of their properties; what cannot be a weight is refused.

Called by algorithms/calls for algorithms that take `weight`.
"""

from dataclasses import replace

import numpy as np
import polars as pl

from vaultgraph.cypher.algorithms.options import Options
from vaultgraph.cypher.algorithms.subgraph import Reals, Subgraph
from vaultgraph.cypher.entities import cells, ends_of, node_property
from vaultgraph.cypher.values import is_number
from vaultgraph.errors import EvaluationError
from vaultgraph.graph.columns import Gathered, gather
from vaultgraph.graph.graph import Graph, tables_of


def weigh(graph: Graph, part: Subgraph, options: Options) -> Subgraph:
    """``part`` with the weights that ``options`` names, as it is where they name none.

    Raises:
        EvaluationError: a weight is missing without a default, no number, negative, NaN or infinite.
    """
    if options.weight is None:
        return part
    weights = np.full(len(part.relationships), np.nan)
    found = np.zeros(len(weights), dtype=np.bool_)
    for table, positions in tables_of(graph, part.relationships):
        rows = part.relationships[positions] - table.first
        for cut in gather(table.columns.get(options.weight), rows):
            places = positions if cut.rows is None else positions[cut.rows]
            values, present, wrong = _numbers(cut)
            _refuse(graph, part, options.weight, "no number", places[wrong])
            weights[places[present]] = values[present]
            found[places[present]] = True
    if options.default_weight is not None:
        weights[~found] = options.default_weight
    elif len(missing := np.flatnonzero(~found)):
        _refuse(graph, part, options.weight, "missing", missing)
    _refuse(graph, part, options.weight, "NaN", np.flatnonzero(np.isnan(weights)))
    _refuse(graph, part, options.weight, "negative", np.flatnonzero(weights < 0))
    _refuse(graph, part, options.weight, "infinite", np.flatnonzero(np.isinf(weights)))
    return replace(part, weights=weights)


def _numbers(cut: Gathered) -> tuple[Reals, np.typing.NDArray[np.bool_], np.typing.NDArray[np.bool_]]:
    """Values, which are there, and which are there but are no numbers."""
    series = cut.series
    present = series.is_not_null().to_numpy()
    if series.dtype == pl.Int64 or series.dtype == pl.Float64:
        return series.cast(pl.Float64).fill_null(0.0).to_numpy(), present, np.zeros(len(series), dtype=np.bool_)
    # row loop: cells that differ in type are Python values; as many as the segment has rows
    values = cells(series)
    numbers = np.array([is_number(value) for value in values], dtype=np.bool_)
    present = np.array([value is not None for value in values], dtype=np.bool_)
    reals = np.array([float(value) if is_number(value) else 0.0 for value in values])
    return reals, present & numbers, present & ~numbers


def _refuse(graph: Graph, part: Subgraph, key: str, what: str, places: np.typing.NDArray[np.int64]) -> None:
    if not len(places):
        return
    start, end = (
        node_property(graph, node, "path") or f"node {node}"
        for node in ends_of(graph, int(part.relationships[places[0]]))
    )
    advice = (
        " Give defaultWeight: 1 for them, or narrow `types`." if what == "missing" else " Narrow `types` or `labels`."
    )
    raise EvaluationError(
        f"The weight {key!r} is {what} on {len(places):,} of {len(part.relationships):,} relationships, such as "
        f"the one from {start} to {end}.{advice}"
    )
