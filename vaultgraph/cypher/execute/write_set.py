"""SET and REMOVE, also those of MERGE: changes made row by row, each seeing what was changed before it."""

from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from vaultgraph.cypher.execute.bindings import Bindings
from vaultgraph.cypher.execute.write_state import Scope, Writing
from vaultgraph.cypher.execute.write_values import property_value, property_values
from vaultgraph.cypher.syntax import Expression
from vaultgraph.cypher.values import NodeRef, Refusal, RelationshipRef, is_map, type_name
from vaultgraph.cypher.write_syntax import (
    Alter,
    Change,
    RemoveLabels,
    RemoveProperty,
    SetLabels,
    SetProperties,
    SetProperty,
)

Act = Callable[[Scope], None]
_Apply = Callable[[object, Scope], None]  # the subject is not null


def alter(clause: Alter, rows: Bindings, writing: Writing) -> Bindings:
    """The rows as they were, with the changes made for each.

    Raises:
        EvaluationError: a property cannot be what it should, or what is changed is no node or relationship, or gone.
    """
    acts = prepared(clause.changes, writing)
    # row loop: each row sees the changes of the rows before it
    for scope in writing.scopes(rows, clause):
        for act in acts:
            act(scope)
    return rows


def prepared(changes: Sequence[Change], writing: Writing) -> list[Act]:
    """The changes as functions of a row; a subject that is null is left alone."""
    return [_prepared(change, writing) for change in changes]


def _prepared(change: Change, writing: Writing) -> Act:
    subject_of = writing.valued(change.subject)
    apply = _apply(change, writing)

    def act(scope: Scope) -> None:
        subject = subject_of(scope)
        if subject is None:
            return
        try:
            apply(subject, scope)
        except Refusal as refusal:
            raise writing.error(str(refusal), change.at) from None

    return act


def _apply(change: Change, writing: Writing) -> _Apply:
    graph = writing.graph
    match change:
        case SetProperty(subject, key, value):
            value_of = writing.valued(value)
            return lambda found, scope: graph.set_property(
                writing.entity(found, "SET", subject.at), key, property_value(key, value_of(scope))
            )
        case RemoveProperty(subject, key):
            return lambda found, _: graph.set_property(writing.entity(found, "REMOVE", subject.at), key, None)
        case SetProperties():
            return _properties_setter(change, writing)
        case SetLabels(subject, labels):
            return lambda found, _: graph.add_labels(_node(found, subject, writing), labels)
        case RemoveLabels(subject, labels):
            return lambda found, _: graph.remove_labels(_node(found, subject, writing), labels)
        case _:
            assert_never(change)


def _properties_setter(change: SetProperties, writing: Writing) -> _Apply:
    value_of = writing.valued(change.value)

    def apply(subject: object, scope: Scope) -> None:
        entity = writing.entity(subject, "SET", change.subject.at)
        given = _map_of(value_of(scope), change.value, writing)
        writing.graph.set_properties(entity, {**entity.properties, **given} if change.adds else given)

    return apply


def _map_of(value: object, tree: Expression, writing: Writing) -> Mapping[str, object]:
    """The properties that SET gives: of a map, or those of a node or relationship."""
    if is_map(value):
        return property_values(value)
    if isinstance(value, NodeRef | RelationshipRef):
        return writing.entity(value, "SET", tree.at).properties
    raise Refusal(f"All properties come from a map, a node or a relationship, not {type_name(value)}.")


def _node(value: object, tree: Expression, writing: Writing) -> int:
    if not isinstance(value, NodeRef):
        raise Refusal(f"Only nodes have labels, and this is {type_name(value)}.")
    writing.entity(value, "SET", tree.at)
    return value.id
