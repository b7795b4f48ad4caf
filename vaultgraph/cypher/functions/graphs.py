"""Functions of nodes, relationships and paths: id, labels, type, properties, keys, ends, degree.

``id`` is the number in one generation of the graph; ``n.path`` or ``n.id`` is what stays. Part of the table in
functions/registry.
"""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from vaultgraph.cypher.entities import ends_of, node_properties, relationship_properties
from vaultgraph.cypher.execute.bindings import BoundColumn, NodeColumn, RelationshipColumn, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.fetch import from_values
from vaultgraph.cypher.execute.operand import Constant, Operand
from vaultgraph.cypher.functions.record import Function, Kernel, function
from vaultgraph.cypher.value_operators import labels_or_type, map_of
from vaultgraph.cypher.values import NodeRef, PathRef, RelationshipRef
from vaultgraph.graph.columns import Ids
from vaultgraph.graph.graph import Graph, group_index, tables_of

_Work = Callable[[Ids, Graph], BoundColumn]


def ids_series(ids: Ids) -> pl.Series:
    """The ids as Int64 with null for -1."""
    series = pl.Series(ids)
    return series.set(series < 0, None)


def _kernel(of_nodes: _Work | None, of_relationships: _Work | None) -> Kernel:
    """A kernel of one entity argument."""

    def run(arguments: Sequence[Operand], context: Context) -> BoundColumn | None:
        match arguments:
            case [NodeColumn(ids)] if of_nodes is not None:
                return of_nodes(ids, context.graph)
            case [RelationshipColumn(ids)] if of_relationships is not None:
                return of_relationships(ids, context.graph)
            case _:
                return None

    return run


def _id_column(ids: Ids, _graph: Graph) -> BoundColumn:
    return ValueColumn(ids_series(ids))


def _labels_column(ids: Ids, graph: Graph) -> BoundColumn:
    """Label lists are made once a group and gathered."""
    lists = pl.Series([list(group.labels) for group in graph.groups], dtype=pl.List(pl.String))
    index = pl.Series(group_index(graph, np.maximum(ids, 0)))
    return ValueColumn(lists.gather(index.set(pl.Series(ids < 0), None)))


def _type_column(ids: Ids, graph: Graph) -> BoundColumn:
    places = np.full(len(ids), -1, dtype=np.int64)
    names: list[str] = []
    for table, positions in tables_of(graph, ids):
        places[positions] = len(names)
        names.append(table.type)
    return ValueColumn(pl.Series([*names, None], dtype=pl.String).gather(np.where(places < 0, len(names), places)))


def _end_kernel(*, is_source: bool) -> _Work:
    def run(ids: Ids, graph: Graph) -> BoundColumn:
        found = np.full(len(ids), -1, dtype=np.int64)
        for table, positions in tables_of(graph, ids):
            ends = table.sources if is_source else table.targets
            found[positions] = ends[ids[positions] - table.first]
        return NodeColumn(found)

    return run


def _whole_kernel(pick: Callable[[dict[str, object]], object]) -> Kernel:
    """A kernel of all properties of each entity, gathered property by property."""

    def gathered(read: Callable[[Graph, Ids], list[dict[str, object]]]) -> _Work:
        def run(ids: Ids, graph: Graph) -> BoundColumn:
            maps = read(graph, ids)
            # row loop: whole entities are Python maps
            cells = [None if one < 0 else pick(map_) for one, map_ in zip(ids.tolist(), maps, strict=True)]
            return from_values(cells)

        return run

    return _kernel(gathered(node_properties), gathered(relationship_properties))


def _degrees(ids: Ids, graph: Graph, type_name: str | None, *, outgoing: bool, incoming: bool) -> Ids:
    """Relationships of each node; one from a node to itself counts in both directions."""
    total = np.zeros(len(ids), dtype=np.int64)
    for name, table in graph.relationships.items():
        if type_name is None or name == type_name:
            if outgoing:
                total += table.outgoing.degrees(ids)
            if incoming:
                total += table.incoming.degrees(ids)
    return total


def _degree_function(name: str, *, outgoing: bool, incoming: bool) -> Function:
    def of_one(context: Context, node: NodeRef, type_name: str | None = None) -> int:
        ids = np.array([node.id], dtype=np.int64)
        return int(_degrees(ids, context.graph, type_name, outgoing=outgoing, incoming=incoming)[0])

    def of_column(arguments: Sequence[Operand], context: Context) -> BoundColumn | None:
        first, *rest = arguments
        if not isinstance(first, NodeColumn):
            return None
        type_name = rest[0].value if rest and isinstance(rest[0], Constant) else None
        if rest and not isinstance(type_name, str):
            return None
        wanted = type_name if isinstance(type_name, str) else None
        degrees = pl.Series(_degrees(first.ids, context.graph, wanted, outgoing=outgoing, incoming=incoming))
        return ValueColumn(degrees.set(pl.Series(first.ids < 0), None))

    return function(f"{name}(node :: NODE, type? :: STRING) :: INTEGER", of_one, of_column, takes_context=True)


def _id(entity: NodeRef | RelationshipRef) -> int:
    return entity.id


def _element_id(entity: NodeRef | RelationshipRef) -> str:
    return str(entity.id)


def _labels(context: Context, node: NodeRef) -> list[object]:
    return list(labels_or_type(node, context.graph))


def _type(context: Context, relationship: RelationshipRef) -> str:
    return labels_or_type(relationship, context.graph)[0]


def _properties(context: Context, value: object) -> dict[str, object] | None:
    return map_of(value, context.graph, "properties()")


def _keys(context: Context, value: object) -> list[object]:
    return list(map_of(value, context.graph, "keys()") or ())


def _start_node(context: Context, relationship: RelationshipRef) -> NodeRef:
    return NodeRef(ends_of(context.graph, relationship.id)[0])


def _end_node(context: Context, relationship: RelationshipRef) -> NodeRef:
    return NodeRef(ends_of(context.graph, relationship.id)[1])


def _nodes(path: PathRef) -> list[object]:
    return [NodeRef(one) for one in path.nodes]


def _relationships(path: PathRef) -> list[object]:
    return [RelationshipRef(one) for one in path.relationships]


def _exists(value: object) -> bool:
    return value is not None


def _keys_of(properties: dict[str, object]) -> object:
    return list(properties)


def _all_of(properties: dict[str, object]) -> object:
    return properties


def functions() -> tuple[Function, ...]:
    """The functions of this family."""
    start, end = _kernel(None, _end_kernel(is_source=True)), _kernel(None, _end_kernel(is_source=False))
    return (
        function("id(entity :: NODE | RELATIONSHIP) :: INTEGER", _id, _kernel(_id_column, _id_column)),
        function("elementId(entity :: NODE | RELATIONSHIP) :: STRING", _element_id),
        function("labels(node :: NODE) :: LIST<STRING>", _labels, _kernel(_labels_column, None), takes_context=True),
        function(
            "type(relationship :: RELATIONSHIP) :: STRING", _type, _kernel(None, _type_column), takes_context=True
        ),
        function(
            "properties(value :: MAP | NODE | RELATIONSHIP) :: MAP",
            _properties,
            _whole_kernel(_all_of),
            takes_context=True,
        ),
        function(
            "keys(value :: MAP | NODE | RELATIONSHIP) :: LIST<STRING>",
            _keys,
            _whole_kernel(_keys_of),
            takes_context=True,
        ),
        function("nodes(path :: PATH) :: LIST<NODE>", _nodes),
        function("relationships(path :: PATH) :: LIST<RELATIONSHIP>", _relationships),
        function("startNode(relationship :: RELATIONSHIP) :: NODE", _start_node, start, takes_context=True),
        function("endNode(relationship :: RELATIONSHIP) :: NODE", _end_node, end, takes_context=True),
        _degree_function("degree", outgoing=True, incoming=True),
        _degree_function("inDegree", outgoing=False, incoming=True),
        _degree_function("outDegree", outgoing=True, incoming=False),
        function("exists(value :: ANY) :: BOOLEAN", _exists, null_through=False),
    )
