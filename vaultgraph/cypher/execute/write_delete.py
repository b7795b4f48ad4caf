"""DELETE and DETACH DELETE: everything the rows name is gathered first, then deleted, relationships before nodes."""

from vaultgraph.cypher.deleted import DeletedNode, DeletedRelationship
from vaultgraph.cypher.execute.bindings import Bindings
from vaultgraph.cypher.execute.write_state import Writing
from vaultgraph.cypher.syntax import Expression
from vaultgraph.cypher.values import NodeRef, PathRef, RelationshipRef, type_name
from vaultgraph.cypher.write_syntax import Delete


def delete(clause: Delete, rows: Bindings, writing: Writing) -> Bindings:
    """The rows as they were; what they name and is deleted already is left alone.

    A node that keeps relationships goes when a later clause deletes those; at the end of the statement it must be gone.

    Raises:
        EvaluationError: a value is no node, relationship or path.
    """
    graph = writing.graph
    nodes: dict[int, Expression] = {}
    relationships: dict[int, None] = {}
    for target in clause.targets:
        # row loop: values are Python objects; as many as there are rows
        for value in writing.values(target, rows):
            _gather(value, target, nodes, relationships, writing)
    nodes = {one: target for one, target in nodes.items() if one in graph.nodes}
    if clause.detaches:
        for one in nodes:
            relationships.update(dict.fromkeys(graph.relationships_of(one)))
    writing.forget(one for one in relationships if one in graph.relationships)
    writing.doom({one: target.at for one, target in nodes.items()})
    return rows


def _gather(
    value: object,
    target: Expression,
    nodes: dict[int, Expression],
    relationships: dict[int, None],
    writing: Writing,
) -> None:
    match value:
        case None | DeletedNode() | DeletedRelationship():
            pass
        case NodeRef(one):
            nodes.setdefault(one, target)
        case RelationshipRef(one):
            relationships[one] = None
        case PathRef():
            for one in value.nodes:
                nodes.setdefault(one, target)
            relationships.update(dict.fromkeys(value.relationships))
        case _:
            raise writing.error(f"DELETE takes nodes, relationships and paths, not {type_name(value)}.", target.at)
