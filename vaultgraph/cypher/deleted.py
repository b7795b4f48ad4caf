"""Nodes and relationships that a statement has deleted, where its rows still name them.

They can be counted, compared and returned. Of a relationship the type is still known; reading anything else is an
error, which cypher/entities raises for ids below -1.
"""

from vaultgraph.cypher.values import NodeRef, RelationshipRef
from vaultgraph.frozen import frozen


@frozen
class DeletedNode(NodeRef):
    """``id`` is `gone_id` of what it was."""


@frozen
class DeletedRelationship(RelationshipRef):
    """``id`` is `gone_id` of what it was."""

    type: str


def gone_id(one: int) -> int:
    """The id of a deleted node or relationship of a mutable graph: below -1, another for each."""
    return -2 - one
