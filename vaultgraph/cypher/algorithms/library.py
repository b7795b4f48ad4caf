"""What rustworkx answers: strongly connected components and weighted distances. The only module that imports it.

Called by algorithms/groups and algorithms/routes. A call of the library cannot be stopped, so it is made only where its
time, which grows with the number of nodes and relationships, fits into what is left of the budget.
"""

import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vaultgraph.cypher.algorithms.subgraph import Reals
from vaultgraph.cypher.budget import Budget
from vaultgraph.errors import BudgetError
from vaultgraph.graph.columns import Ids

if TYPE_CHECKING:
    import rustworkx

_SECONDS_EACH: Final = 2e-6  # a node or relationship, of the slower call on a busy machine
_MOST: Final = 10_000_000  # nodes and relationships
_CHUNK: Final = 100_000  # relationships handed over between two looks at the budget


def strong_components(sources: Ids, targets: Ids, size: int, budget: Budget) -> Ids:
    """A number for each node, ``int64[size]``, equal for nodes that reach each other."""
    found = np.zeros(size, dtype=np.int64)
    import rustworkx as rx  # noqa: PLC0415 -- only queries that need it pay for it

    parts = rx.strongly_connected_components(_graph(sources, targets, np.ones(len(sources)), size, budget))
    # row loop: the library answers with lists; together they hold every node once
    for number, part in enumerate(parts):
        found[part] = number
    budget.check()
    return found


def distances(sources: Ids, targets: Ids, weights: Reals, size: int, start: int, budget: Budget) -> Reals:
    """The least sum of weights from ``start`` to each node, ``float64[size]``; infinite where no way leads."""
    import rustworkx as rx  # noqa: PLC0415 -- only queries that need it pay for it

    graph = _graph(sources, targets, weights, size, budget)
    lengths: Any = rx.digraph_dijkstra_shortest_path_lengths(graph, start, float)
    found = np.full(size, np.inf)
    count = len(lengths)
    found[np.fromiter(lengths.keys(), dtype=np.int64, count=count)] = np.fromiter(
        lengths.values(), dtype=np.float64, count=count
    )
    found[start] = 0.0
    budget.check()
    return found


def _graph(sources: Ids, targets: Ids, weights: Reals, size: int, budget: Budget) -> "rustworkx.PyDiGraph[None, float]":
    import rustworkx as rx  # noqa: PLC0415 -- only queries that need it pay for it

    _check_time(size + len(sources), budget)
    graph: rustworkx.PyDiGraph[None, float] = rx.PyDiGraph(
        multigraph=True, node_count_hint=size, edge_count_hint=len(sources)
    )
    graph.add_nodes_from([None] * size)
    for first in range(0, len(sources), _CHUNK):
        budget.check()
        cut = slice(first, first + _CHUNK)
        rows = zip(sources[cut].tolist(), targets[cut].tolist(), weights[cut].tolist(), strict=True)
        graph.extend_from_weighted_edge_list(list(rows))
    budget.check()
    return graph


def _check_time(count: int, budget: Budget) -> None:
    """Refuse before the start what could not be stopped in time."""
    budget.check()
    seconds = count * _SECONDS_EACH
    left = None if budget.deadline is None else budget.deadline - time.monotonic()
    if count > _MOST or (left is not None and seconds > left):
        raise BudgetError(
            f"This algorithm over {count:,} nodes and relationships would take about {max(seconds, 1):,.0f} s, more "
            "than it may. Narrow it with `labels`, `types` or `nodes`, or raise timeout_ms."
        )
