"""Every operator on single engine values, with exact null, type and overflow rules.

The reference for execute/kernels, which does the same on whole columns; used row by row wherever columns have no one
type. All raise Refusal, which the evaluator turns into an EvaluationError with the place in the query.
"""

import math
from collections.abc import Callable, Mapping
from datetime import date
from types import MappingProxyType
from typing import Final, TypeVar

import numpy as np

from vaultgraph.cypher.components import component
from vaultgraph.cypher.deleted import DeletedRelationship
from vaultgraph.cypher.durations import Duration, add_durations, scale_duration
from vaultgraph.cypher.entities import (
    labels_of,
    node_properties,
    node_property,
    relationship_properties,
    relationship_property,
    type_of,
)
from vaultgraph.cypher.regex import matches_one
from vaultgraph.cypher.temporals import Moment, Temporal, moment_text
from vaultgraph.cypher.time_arithmetic import shift
from vaultgraph.cypher.values import (
    NodeRef,
    Refusal,
    RelationshipRef,
    equals,
    is_list,
    is_map,
    is_number,
    type_name,
)
from vaultgraph.graph.graph import Graph

LEAST_INTEGER: Final = -(2**63)
MOST_INTEGER: Final = 2**63 - 1
MOST_JOINED: Final = 20_000_000
"""Characters of a text, or items of a list, that one operation may make."""

_Joined = TypeVar("_Joined", str, list[object])


def text_of(value: object) -> str:
    """The text of a value as toString() gives it: ``true``, ``1.0``, ISO dates, ``NaN``, ``Infinity``.

    Raises:
        Refusal: a list, map, node, relationship or path.
    """
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _float_text(value)
        case date() | Temporal():
            return moment_text(value)
        case Duration():
            return str(value)
        case _:
            raise Refusal(f"{type_name(value)} has no text form.")


def add(left: object, right: object) -> object:
    """``+``: numbers, texts (a text and a number or other plain value join), lists, durations, a moment and a
    duration."""
    if left is None or right is None:
        return None
    if is_number(left) and is_number(right):
        return _checked(left + right, "+")
    if is_list(left) or is_list(right):
        return _joined(left if is_list(left) else [left], right if is_list(right) else [right])
    if isinstance(left, str) or isinstance(right, str):
        try:
            parts = text_of(left), text_of(right)
        except Refusal:
            raise _unfit("+", left, right) from None
        return _joined(*parts)
    if isinstance(right, Duration) and isinstance(left, date | Temporal | Duration):
        return _moved(left, right, 1)
    if isinstance(left, Duration) and isinstance(right, date | Temporal):
        return _moved(right, left, 1)
    raise _unfit("+", left, right)


def subtract(left: object, right: object) -> object:
    """``-``: numbers, durations, a moment and a duration."""
    if left is None or right is None:
        return None
    if is_number(left) and is_number(right):
        return _checked(left - right, "-")
    if isinstance(right, Duration) and isinstance(left, date | Temporal | Duration):
        return _moved(left, right, -1)
    if isinstance(left, date | Temporal) and isinstance(right, date | Temporal):
        raise Refusal(
            "- does not work on two dates or times. Use duration.between(from, to) or duration.inDays(from, to)."
        )
    raise _unfit("-", left, right)


def multiply(left: object, right: object) -> object:
    """``*``: numbers, or a duration and a number."""
    if left is None or right is None:
        return None
    if is_number(left) and is_number(right):
        return _checked(left * right, "*")
    if isinstance(left, Duration) and is_number(right):
        return _scaled(left, right)
    if is_number(left) and isinstance(right, Duration):
        return _scaled(right, left)
    raise _unfit("*", left, right)


def divide(left: object, right: object) -> object:
    """``/``: two integers give the quotient towards zero; with a float, IEEE 754 (infinities and NaN)."""
    if left is None or right is None:
        return None
    if isinstance(left, Duration) and is_number(right) and right:
        return _scaled(left, 1, right)
    if not is_number(left) or not is_number(right):
        raise _unfit("/", left, right)
    if isinstance(left, int) and isinstance(right, int):
        if not right:
            raise Refusal("Division by zero.")
        quotient = abs(left) // abs(right)
        return _checked(quotient if (left < 0) == (right < 0) else -quotient, "/")
    if right:
        return float(left) / right
    if not left or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def modulo(left: object, right: object) -> object:
    """``%``: the remainder with the sign of the left side."""
    if left is None or right is None:
        return None
    if not is_number(left) or not is_number(right):
        raise _unfit("%", left, right)
    if isinstance(left, int) and isinstance(right, int):
        if not right:
            raise Refusal("Division by zero.")
        rest = abs(left) % abs(right)
        return rest if left >= 0 else -rest
    try:
        return math.fmod(left, right)
    except ValueError:  # by zero, or of an infinity
        return math.nan


def power(left: object, right: object) -> object:
    """``^``: always a float."""
    if left is None or right is None:
        return None
    if not is_number(left) or not is_number(right):
        raise _unfit("^", left, right)
    try:
        return math.pow(left, right)
    except OverflowError:
        return -math.inf if left < 0 and right % 2 == 1 else math.inf
    except ValueError:  # 0 to a negative power, or a root of a negative number
        return math.inf if not left else math.nan


def negate(value: object) -> object:
    """Unary ``-``."""
    if value is None:
        return None
    if isinstance(value, Duration):
        return scale_duration(value, -1)
    if not is_number(value):
        raise Refusal(f"- needs a number, not {type_name(value)}.")
    return _checked(-value, "-")


def plus(value: object) -> object:
    """Unary ``+``."""
    if value is not None and not is_number(value):
        raise Refusal(f"+ needs a number, not {type_name(value)}.")
    return value


def concatenate(left: object, right: object) -> object:
    """``||``: two texts or two lists."""
    if left is None or right is None:
        return None
    if isinstance(left, str) and isinstance(right, str):
        return _joined(left, right)
    if is_list(left) and is_list(right):
        return _joined(left, right)
    raise _unfit("||", left, right)


def truth(value: object, operator: str) -> bool | None:
    """``value`` where it is a boolean or null.

    Raises:
        Refusal: it is anything else.
    """
    if value is None or isinstance(value, bool):
        return value
    raise Refusal(f"{operator} needs true, false or null, not {type_name(value)}.")


def conjunction(left: object, right: object) -> bool | None:
    """``AND``."""
    one, other = truth(left, "AND"), truth(right, "AND")
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def disjunction(left: object, right: object) -> bool | None:
    """``OR``."""
    one, other = truth(left, "OR"), truth(right, "OR")
    if one or other:
        return True
    return None if one is None or other is None else False


def exclusive(left: object, right: object) -> bool | None:
    """``XOR``."""
    one, other = truth(left, "XOR"), truth(right, "XOR")
    return None if one is None or other is None else one is not other


def negation(value: object) -> bool | None:
    """``NOT``."""
    known = truth(value, "NOT")
    return None if known is None else not known


def is_member(item: object, items: object) -> bool | None:
    """``IN``: true where an item equals, null where only a null could."""
    if items is None:
        return None
    if not is_list(items):
        raise Refusal(f"IN needs a list on its right side, not {type_name(items)}.")
    known = True
    for one in items:
        equal = equals(item, one)
        if equal:
            return True
        known = known and equal is False
    return False if known else None


def starts_with(left: object, right: object) -> bool | None:
    """``STARTS WITH``; null unless both are texts."""
    return left.startswith(right) if isinstance(left, str) and isinstance(right, str) else None


def ends_with(left: object, right: object) -> bool | None:
    """``ENDS WITH``; null unless both are texts."""
    return left.endswith(right) if isinstance(left, str) and isinstance(right, str) else None


def contains(left: object, right: object) -> bool | None:
    """``CONTAINS``; null unless both are texts."""
    return right in left if isinstance(left, str) and isinstance(right, str) else None


def matches(left: object, right: object) -> bool | None:
    """``=~``; null unless both are texts."""
    return matches_one(left, right) if isinstance(left, str) and isinstance(right, str) else None


BINARY: Final[Mapping[str, Callable[[object, object], object]]] = MappingProxyType(
    {
        "+": add,
        "-": subtract,
        "*": multiply,
        "/": divide,
        "%": modulo,
        "^": power,
        "||": concatenate,
        "AND": conjunction,
        "OR": disjunction,
        "XOR": exclusive,
        "IN": is_member,
        "STARTS WITH": starts_with,
        "ENDS WITH": ends_with,
        "CONTAINS": contains,
        "=~": matches,
    }
)
UNARY: Final[Mapping[str, Callable[[object], object]]] = MappingProxyType({"-": negate, "+": plus, "NOT": negation})


def property_of(subject: object, key: str, graph: Graph) -> object:
    """``subject.key`` of a map, node, relationship, date, datetime or duration; null of null."""
    match subject:
        case None:
            return None
        case NodeRef():
            return node_property(graph, subject.id, key)
        case RelationshipRef():
            return relationship_property(graph, subject.id, key)
        case date() | Temporal() | Duration():
            return component(subject, key)
        case _:
            if is_map(subject):
                return subject.get(key)
            raise Refusal(f"{type_name(subject)} has no properties; .{key} needs a node, relationship, map or date.")


def item_of(subject: object, index: object, graph: Graph) -> object:
    """``subject[index]``: an item of a list (negative from the end, null outside), a value of a map or entity."""
    if subject is None or index is None:
        return None
    if is_list(subject):
        if not isinstance(index, int) or isinstance(index, bool):
            raise Refusal(f"A list index must be INTEGER, not {type_name(index)}.")
        return subject[index] if -len(subject) <= index < len(subject) else None
    if isinstance(subject, NodeRef | RelationshipRef) or is_map(subject):
        if not isinstance(index, str):
            raise Refusal(f"A key of {type_name(subject)} must be STRING, not {type_name(index)}.")
        return property_of(subject, index, graph)
    raise Refusal(f"[ ] needs a list, map, node or relationship, not {type_name(subject)}.")


def slice_of(subject: object, start: object, stop: object) -> object:
    """``subject[start..stop]`` of a list; null where any part is null. An open side is 0 or MOST_INTEGER."""
    if subject is None or start is None or stop is None:
        return None
    if not is_list(subject):
        raise Refusal(f"[ .. ] needs a list, not {type_name(subject)}.")
    for bound in (start, stop):
        if not isinstance(bound, int) or isinstance(bound, bool):
            raise Refusal(f"A list index must be INTEGER, not {type_name(bound)}.")
    return subject[start:stop]  # type: ignore[misc]


def _joined(left: _Joined, right: _Joined) -> _Joined:
    """``left + right``, up to a size that no answer needs but a doubling loop reaches at once."""
    if len(left) + len(right) > MOST_JOINED:
        raise Refusal(f"The joined text or list would be longer than {MOST_JOINED:,}.")
    return left + right


def _scaled(value: Duration, factor: float, divisor: float = 1) -> Duration:
    try:
        return scale_duration(value, factor, divisor)
    except OverflowError:
        raise Refusal("A duration can only be scaled by a finite number, and to 18 digits.") from None


def _moved(moment: Moment | Duration, by: Duration, sign: int) -> object:
    try:
        if isinstance(moment, Duration):
            return add_durations(moment, by, sign)
        return shift(moment, by, sign)
    except (OverflowError, ValueError):
        raise Refusal("The result leaves the years ±999,999,999, or is a duration of more than 18 digits.") from None


def _checked(value: float, operator: str) -> int | float:
    if isinstance(value, int) and not LEAST_INTEGER <= value <= MOST_INTEGER:
        raise Refusal(f"Integer overflow: the result of {operator} does not fit 64 bits. Use toFloat() on one side.")
    return value


def _unfit(operator: str, left: object, right: object) -> Refusal:
    return Refusal(f"{operator} does not work on {type_name(left)} and {type_name(right)}.")


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def map_of(subject: object, graph: Graph, purpose: str) -> dict[str, object] | None:
    """All properties of a node or relationship, or a map itself; null of null."""
    if subject is None or is_map(subject):
        return subject
    if isinstance(subject, NodeRef):
        return node_properties(graph, np.array([subject.id], dtype=np.int64))[0]
    if isinstance(subject, RelationshipRef):
        return relationship_properties(graph, np.array([subject.id], dtype=np.int64))[0]
    raise Refusal(f"{purpose} needs a node, relationship or map, not {type_name(subject)}.")


def labels_or_type(subject: NodeRef | RelationshipRef, graph: Graph) -> tuple[str, ...]:
    """The labels of a node, or the type of a relationship as the only one."""
    if isinstance(subject, NodeRef):
        return labels_of(graph, subject.id)
    return (subject.type if isinstance(subject, DeletedRelationship) else type_of(graph, subject.id),)
