"""What is known of a value before running: its kind, the labels of a node, the items of a list.

Used by binding, to refuse what cannot work and to warn about properties that no node of a label has. A kind is a claim
only where it is certain; everything else is ANY. Every kind also covers null.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final
from typing import Literal as Choice

from vaultgraph.cypher.functions.record import Function
from vaultgraph.cypher.syntax import (
    Expression,
    LabelAnd,
    LabelAny,
    LabelExpression,
    LabelName,
    LabelNot,
    LabelOr,
    Literal,
)
from vaultgraph.frozen import frozen

KindName = Choice["any", "null", "boolean", "integer", "float", "string", "list", "map", "node", "relationship", "path"]


@frozen
class Kind:
    """``labels``: those a node may have its properties from, or the types of a relationship; empty is unknown.

    ``item`` is the kind of a list's items.
    """

    name: KindName
    labels: tuple[str, ...] = ()
    item: "Kind | None" = None


ANY: Final = Kind("any")
NULL: Final = Kind("null")
BOOLEAN: Final = Kind("boolean")
INTEGER: Final = Kind("integer")
FLOAT: Final = Kind("float")
STRING: Final = Kind("string")
MAP: Final = Kind("map")
LIST: Final = Kind("list")
NODE: Final = Kind("node")
RELATIONSHIP: Final = Kind("relationship")
PATH: Final = Kind("path")

_SHOWN: Final[dict[KindName, str]] = {
    "any": "any value",
    "null": "null",
    "boolean": "a boolean",
    "integer": "an integer",
    "float": "a float",
    "string": "a string",
    "list": "a list",
    "map": "a map",
    "node": "a node",
    "relationship": "a relationship",
    "path": "a path",
}
_OF_TYPE: Final[dict[str, Kind]] = {
    "BOOLEAN": BOOLEAN,
    "INTEGER": INTEGER,
    "FLOAT": FLOAT,
    "STRING": STRING,
    "LIST": LIST,
    "MAP": MAP,
    "NODE": NODE,
    "RELATIONSHIP": RELATIONSHIP,
    "PATH": PATH,
}
_SAME_AS_ITEM: Final = frozenset({"head", "last"})
_SAME_AS_LIST: Final = frozenset({"tail", "reverse", "coalesce"})


def shown(kind: Kind) -> str:
    """The kind in words, with its article."""
    return _SHOWN[kind.name]


def kind_of_literal(literal: Literal) -> Kind:
    """The kind of a constant."""
    match literal.value:
        case None:
            return NULL
        case bool():
            return BOOLEAN
        case int():
            return INTEGER
        case float():
            return FLOAT
        case str():
            return STRING


def common(kinds: Iterable[Kind]) -> Kind:
    """The kind that covers all: the one they share, nulls aside, else ANY."""
    distinct = {kind for kind in kinds if kind is not NULL}
    if len(distinct) == 1:
        return distinct.pop()
    first = next(iter(distinct), ANY)
    return Kind(first.name) if first is not ANY and all(kind.name == first.name for kind in distinct) else ANY


def list_of(item: Kind) -> Kind:
    """A list with items of one kind."""
    return LIST if item is ANY else Kind("list", item=item)


def item_of(kind: Kind) -> Kind:
    """The kind of a list's items."""
    return kind.item or ANY


def with_labels(kind: Kind, labels: Sequence[str]) -> Kind:
    """The kind with more labels known."""
    return replace(kind, labels=tuple(dict.fromkeys((*kind.labels, *labels)))) if labels else kind


def label_names(labels: LabelExpression | None, *, negated: bool = False) -> tuple[LabelName, ...]:
    """The names in a label expression; with ``negated`` also those behind a ``!``."""
    match labels:
        case None | LabelAny():
            return ()
        case LabelName():
            return (labels,)
        case LabelNot(part):
            return label_names(part, negated=True) if negated else ()
        case LabelAnd(parts) | LabelOr(parts):
            return tuple(name for part in parts for name in label_names(part, negated=negated))


def kind_of_call(function: Function, arguments: Sequence[Kind]) -> Kind:
    """The kind of a function's result, from its signature."""
    name = function.name.lower()
    if name in _SAME_AS_ITEM and len(arguments) == 1:
        return item_of(arguments[0])
    if name in _SAME_AS_LIST:
        return common(arguments)
    return _kind_of_type(function.signature.rpartition(" :: ")[2])


def kind_of_aggregate(name: str, arguments: Sequence[Kind]) -> Kind:
    """The kind of an aggregate's result."""
    match name.lower():
        case "count":
            return INTEGER
        case "collect" if arguments:
            return list_of(arguments[0])
        case "min" | "max" if arguments:
            return arguments[0]
        case _:
            return ANY


def refused_argument(function: Function, position: int, kind: Kind) -> bool:
    """Whether no value of the kind can be the argument at ``position`` (0-based)."""
    return bool(function.parameters) and is_refused_by(function.parameter(position).types, kind)


def is_refused_by(types: frozenset[str], kind: Kind) -> bool:
    """Whether no value of the kind has one of the types; of no types every value is."""
    if kind.name in ("any", "null"):
        return False
    fitting: set[KindName] = {name for type_name in types if (name := _kind_of_type(type_name).name) != "any"}
    # A type this module does not know (a date, say) may be made from anything: only closed sets refuse.
    if not fitting or any(_kind_of_type(type_name) is ANY for type_name in types):
        return False
    return kind.name not in fitting and not (kind.name == "integer" and "float" in fitting)


def is_refused(tree: Expression, kind: Kind, names: Iterable[KindName]) -> bool:
    """Whether the value is surely of one of the kinds; null never is."""
    return kind.name in names and not (isinstance(tree, Literal) and tree.value is None)


def _kind_of_type(name: str) -> Kind:
    if name.startswith("LIST<"):
        return list_of(_kind_of_type(name[5:-1]))
    return _OF_TYPE.get(name, ANY)
