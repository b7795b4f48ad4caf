"""The door of the algorithms: a call from its options to the rows of its answer.

Imported by cypher/procedures when a query first calls one. Rows come in one order: the best score first, groups by
number, then by node.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.cypher.algorithms.centrality import betweenness, closeness
from vaultgraph.cypher.algorithms.cohesion import coreness, triangles
from vaultgraph.cypher.algorithms.declared import ALGORITHMS
from vaultgraph.cypher.algorithms.groups import communities, components, numbered
from vaultgraph.cypher.algorithms.options import Options, read_options
from vaultgraph.cypher.algorithms.ranks import degrees, pagerank
from vaultgraph.cypher.algorithms.routes import paths_to, shortest_routes
from vaultgraph.cypher.algorithms.subgraph import Subgraph, choose_subgraph, places_of
from vaultgraph.cypher.algorithms.weights import weigh
from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.execute.bindings import Bindings, BoundColumn, NodeColumn, ObjectColumn, ValueColumn
from vaultgraph.errors import EvaluationError
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.graph import Graph


@dataclass(frozen=True, slots=True)
class _Call:
    graph: Graph
    part: Subgraph
    options: Options
    budget: Budget


def run_algorithm(graph: Graph, name: str, options: object, budget: Budget) -> Bindings:
    """The rows of one algorithm (its name in any case) over the part of ``graph`` that ``options`` choose.

    ``options``: a map of engine values, or None. The columns are those of the Algorithm; ``node`` is a NodeColumn.

    Raises:
        KeyError: there is no such algorithm.
        EvaluationError: an option is unknown or wrong, names what is not in the graph, or a weight is none.
        BudgetError: it would take more time, rows or memory than it may, or was cancelled.
    """
    algorithm = ALGORITHMS[name.lower()]
    rows, defaults = _RUN[name.lower()]
    read = read_options(algorithm.name, algorithm.options, options, defaults)
    part = weigh(graph, choose_subgraph(graph, read, budget), read)
    budget.check(part.size)
    return rows(_Call(graph, part, read, budget))


def _scored(
    call: _Call, keys: Ids | np.typing.NDArray[np.float64], **columns: np.typing.NDArray[np.generic]
) -> Bindings:
    """A row a node, highest ``keys`` first, then by node."""
    return _rows(call, np.lexsort((call.part.nodes, -keys)), **columns)


def _rows(call: _Call, order: Ids, **columns: np.typing.NDArray[np.generic]) -> Bindings:
    bound: dict[str, BoundColumn] = {"node": NodeColumn(call.part.nodes[order])}
    bound |= {name: ValueColumn(pl.Series(values[order])) for name, values in columns.items()}
    return Bindings(len(order), bound)


def _pagerank(call: _Call) -> Bindings:
    starts = places_of(call.graph, call.part, call.options.source, "source")
    score = pagerank(call.part, call.options, starts, call.budget)
    return _scored(call, score, score=score)


def _degree(call: _Call) -> Bindings:
    degree, strength = degrees(call.part, call.options)
    return _scored(call, strength, degree=degree, strength=strength)


def _betweenness(call: _Call) -> Bindings:
    score = betweenness(call.part, call.options, call.budget)
    return _scored(call, score, score=score)


def _closeness(call: _Call) -> Bindings:
    score, harmonic = closeness(call.part, call.options, call.budget)
    return _scored(call, score, score=score, harmonic=harmonic)


def _components(call: _Call) -> Bindings:
    component, size = numbered(components(call.part, call.options, call.budget))
    return _rows(call, np.argsort(component, kind="stable"), component=component, size=size)


def _communities(call: _Call) -> Bindings:
    community, size = numbered(communities(call.part, call.options, call.budget))
    return _rows(call, np.argsort(community, kind="stable"), community=community, size=size)


def _coreness(call: _Call) -> Bindings:
    core = coreness(call.part, call.budget)
    return _scored(call, core, core=core)


def _triangles(call: _Call) -> Bindings:
    count, coefficient = triangles(call.part, call.budget)
    return _scored(call, count, triangles=count, coefficient=coefficient)


def _shortest_paths(call: _Call) -> Bindings:
    part, options = call.part, call.options
    if len(options.source) != 1:
        raise EvaluationError(
            "algo.shortestPaths() needs source: the one node, or the path of the one note, that all ways start from."
        )
    start = int(places_of(call.graph, part, options.source, "source")[0])
    targets = places_of(call.graph, part, options.target, "target")
    routes = shortest_routes(part, options, start, call.budget)
    kept = np.isin(routes.places, targets) if options.target else np.ones(len(routes.places), dtype=np.bool_)
    places, steps = routes.places[kept], routes.steps[kept]
    paths: list[object] = [None] * len(places)
    if options.paths or options.target:
        paths = paths_to(part, routes, places, steps, call.budget)
    columns: dict[str, BoundColumn] = {
        "node": NodeColumn(part.nodes[places]),
        "distance": ValueColumn(pl.Series(routes.distances[kept])),
        "steps": ValueColumn(pl.Series(steps)),
        "path": ObjectColumn(paths),
    }
    return Bindings(len(places), columns)


_RUN: Final[Mapping[str, tuple[Callable[[_Call], Bindings], Options]]] = MappingProxyType(
    {
        "algo.betweenness": (_betweenness, Options()),
        "algo.closeness": (_closeness, Options()),
        "algo.communities": (_communities, Options()),
        "algo.components": (_components, Options()),
        "algo.coreness": (_coreness, Options()),
        "algo.degree": (_degree, Options()),
        "algo.pagerank": (_pagerank, Options(direction="out")),
        "algo.shortestpaths": (_shortest_paths, Options(direction="out")),
        "algo.triangles": (_triangles, Options()),
    }
)
"""What runs each algorithm, and the options it starts from."""
