"""Warnings for names the graph does not have: labels, relationship types and property keys, with the nearest name.

Such a query is right and its answer is right (empty, or null), but mostly it was meant otherwise.
"""

from collections.abc import Collection

from vaultgraph.cypher.advice import listed, nearest, shortened
from vaultgraph.cypher.kinds import Kind
from vaultgraph.cypher.scopes import Desk


def warn_label(desk: Desk, label: str) -> None:
    """A label no node has."""
    if desk.names is not None and label not in desk.names.labels:
        desk.warn(f"No node has the label '{shortened(label)}'.{_instead(label, desk.names.labels, 'Labels')}")


def warn_type(desk: Desk, type_name: str) -> None:
    """A type no relationship has."""
    if desk.names is not None and type_name not in desk.names.relationship_types:
        known = desk.names.relationship_types
        desk.warn(f"No relationship has the type '{shortened(type_name)}'.{_instead(type_name, known, 'Types')}")


def warn_variable(desk: Desk, name: str, *, is_node: bool) -> None:
    """A variable without label or type that is called like one: the colon was forgotten."""
    if desk.names is not None and name in (desk.names.labels if is_node else desk.names.relationship_types):
        shown = f"(:{name})" if is_node else f"[:{name}]"
        desk.warn(f"'{name}' is a variable here and matches anything: for the {_word(is_node)} write {shown}.")


def _word(is_node: bool) -> str:
    return "label" if is_node else "type"


def warn_property(desk: Desk, key: str, kind: Kind) -> None:
    """A property no node with the labels (no relationship of the types) has; only for nodes and relationships."""
    names = desk.names
    if names is None or kind.name not in ("node", "relationship"):
        return
    is_node = kind.name == "node"
    keys_of = names.property_keys if is_node else names.relationship_property_keys
    known = names.labels if is_node else names.relationship_types
    if any(label not in known for label in kind.labels):
        return  # there is a warning about the label already
    # row loop: the labels or types written in one pattern
    groups = [keys_of(label) for label in kind.labels] or [keys_of(None)]
    if any(key in group for group in groups):
        return
    noun = "node" if is_node else "relationship"
    who = f"{' or '.join(kind.labels)} {noun}" if kind.labels else noun
    every = {name for group in groups for name in group}
    desk.warn(f"No {who} has the property '{shortened(key)}'.{_instead(key, every, 'Properties')}")


def _instead(name: str, known: Collection[str], what: str) -> str:
    near = nearest(name, known) or _longer(name, known)
    if near is not None:
        return f" Did you mean '{near}'?"
    return f" {what} there are: {listed(known)}." if known else ""


def _longer(name: str, known: Collection[str]) -> str | None:
    """A known name that ``name`` is the beginning of: LINKS for LINKS_TO."""
    start = name.lower()
    return next((one for one in known if len(start) > 2 and one.lower().startswith(start)), None)
