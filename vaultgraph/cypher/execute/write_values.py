"""What a property can hold: query values on their way into the graph, checked and in the form that is kept."""

from collections.abc import Mapping

from vaultgraph.cypher.stored_values import stored
from vaultgraph.cypher.values import NodeRef, PathRef, Refusal, RelationshipRef, is_list, is_map, type_name


def property_value(key: str, value: object) -> object:
    """The value as a mutable graph keeps it; None takes a property away.

    Raises:
        Refusal: no property can be it: a map, a node, a relationship or a path, or a list that holds one, null or a
            list.
    """
    if is_list(value):
        for item in value:
            if item is None or is_list(item) or _is_refused(item):
                raise Refusal(f"The property '{key}' cannot hold a list with {type_name(item)} in it.")
    elif _is_refused(value):
        raise Refusal(f"The property '{key}' cannot be {type_name(value)}.")
    return stored(value)


def property_values(values: Mapping[str, object]) -> dict[str, object]:
    """All of a map as properties.

    Raises:
        Refusal: one cannot be a property.
    """
    return {key: property_value(key, value) for key, value in values.items()}


def _is_refused(value: object) -> bool:
    return is_map(value) or isinstance(value, NodeRef | RelationshipRef | PathRef)
