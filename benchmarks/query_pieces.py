"""Random expressions and patterns for benchmarks/query_fuzz.py: each a text, and a function of a row."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from query_naive import (
    MOST_ROWS,
    Hop,
    Place,
    Row,
    TooMuchError,
    Value,
    World,
    both,
    compared,
    extended,
    negated,
)

LABELS = ("A", "B")
Expression = tuple[str, Callable[[Row], Value]]


@dataclass
class Making:
    """A query being made: the kinds of the variables in scope (node, hop, trail, value)."""

    chance: random.Random
    world: World
    scope: dict[str, str] = field(default_factory=dict)
    names: int = 0

    def new(self, kind: str, letter: str) -> str:
        self.names += 1
        name = f"{letter}{self.names}"
        self.scope[name] = kind
        return name

    def of(self, *kinds: str) -> list[str]:
        return [name for name, kind in self.scope.items() if kind in kinds]


def number(making: Making, depth: int = 0) -> Expression:
    """A number or null."""
    chance, world = making.chance, making.world
    nodes, hops, trails, values = (making.of(kind) for kind in ("node", "hop", "trail", "value"))
    kind = chance.choice(("literal", "node", "node", "node", "hop", "trail", "value", "value", "sum", "count", "null"))
    if kind == "node" and nodes:
        name, key = chance.choice(nodes), chance.choice(("x", "x", "id", "y"))
        return f"{name}.{key}", lambda row: world.read(row[name], key)
    if kind == "hop" and hops:
        name, key = chance.choice(hops), chance.choice(("k", "w"))
        return f"{name}.{key}", lambda row: world.read(row[name], key)
    if kind == "trail" and trails:
        name = chance.choice(trails)
        return f"size({name})", lambda row: None if row[name] is None else len(row[name])
    if kind == "value" and values:
        name = chance.choice(values)
        return name, lambda row: row[name]
    if kind == "sum" and depth < 2:
        (one, left), (other, right) = number(making, depth + 1), number(making, depth + 1)

        def added(row: Row) -> Value:
            first, second = left(row), right(row)
            return None if first is None or second is None else first + second

        return f"({one} + {other})", added
    if kind == "count" and nodes and depth < 1:
        text, find = inner_pattern(making)
        if chance.random() < 0.3 and " WHERE " not in text:
            return f"size([{text} | 1])", lambda row: len(find(row))
        return f"COUNT {{ {text} }}", lambda row: len(find(row))
    if kind == "null" and depth:
        return "null", lambda _: None
    value = chance.randrange(4)
    return str(value), lambda _: value


def truth(making: Making, depth: int = 0) -> Expression:
    """True, false or null."""
    chance, world, nodes = making.chance, making.world, making.of("node")
    kind = chance.choice(("compare", "compare", "and", "or", "not", "label", "null", "in", "text", "exists", "chain"))
    if kind in ("and", "or") and depth < 2:
        (one, left), (other, right) = truth(making, depth + 1), truth(making, depth + 1)
        if kind == "and":
            return f"({one} AND {other})", lambda row: both(left(row), right(row))
        return f"({one} OR {other})", lambda row: negated(both(negated(left(row)), negated(right(row))))
    if kind == "not" and depth < 2:
        one, inner = truth(making, depth + 1)
        return f"(NOT {one})", lambda row: negated(inner(row))
    if kind == "label" and nodes:
        name, label = chance.choice(nodes), chance.choice(LABELS)
        return f"{name}:{label}", lambda row: None if row[name] is None else label in world.nodes[row[name][1]][0]
    if kind == "null":
        one, inner = number(making, 1)
        return f"({one}) IS NULL", lambda row: inner(row) is None
    if kind == "in":
        one, inner = number(making, 1)
        items = [chance.choice((0, 1, 2, 3, None)) for _ in range(chance.randrange(4))]
        shown = ", ".join("null" if item is None else str(item) for item in items)

        def found(row: Row) -> bool | None:
            value = inner(row)
            if not items:
                return False
            if value is None:
                return None
            return True if value in items else None if None in items else False

        return f"({one}) IN [{shown}]", found
    if kind == "text" and nodes:
        name, value = chance.choice(nodes), chance.choice(("a", "ab", ""))
        operator = chance.choice(("=", "<", ">=", "STARTS WITH", "CONTAINS"))

        def holds(row: Row) -> bool | None:
            text = world.read(row[name], "s")
            if text is None or operator in ("=", "<", ">="):
                return compared(text, operator, value) if text is not None else None
            return text.startswith(value) if operator == "STARTS WITH" else value in text

        return f"{name}.s {operator} '{value}'", holds
    if kind == "exists" and nodes and depth < 2:
        text, find = inner_pattern(making)
        return f"EXISTS {{ {text} }}", lambda row: bool(find(row))
    (one, left), (other, right) = number(making, 1), number(making, 1)
    operator = chance.choice(("=", "<>", "<", "<=", ">", ">="))
    if kind == "chain":
        return f"0 < {one} {operator} {other}", lambda row: both(
            compared(0, "<", left(row)), compared(left(row), operator, right(row))
        )
    return f"{one} {operator} {other}", lambda row: compared(left(row), operator, right(row))


def inner_pattern(making: Making) -> tuple[str, Callable[[Row], list[Row]]]:
    """A pattern from a node in scope, with WHERE or without; what it binds is forgotten."""
    scope = dict(making.scope)
    text, find = patterns(making, start=making.chance.choice(making.of("node")), paths=1)
    if making.chance.random() < 0.4:
        condition, test = truth(making, 2)
        text, find = f"{text} WHERE {condition}", filtered(find, test)
    making.scope = scope
    return text, find


def filtered(find: Callable[[Row], list[Row]], test: Callable[[Row], Value]) -> Callable[[Row], list[Row]]:
    return lambda row: [found for found in find(row) if test(found) is True]


def patterns(making: Making, start: str | None = None, paths: int = 0) -> tuple[str, Callable[[Row], list[Row]]]:
    """Some paths, and how they extend a row."""
    chance = making.chance
    made: list[tuple[list[Place], list[Hop]]] = []
    known = making.of("node")
    for path in range(paths or chance.choice((1, 1, 1, 2))):
        places, hops = [], []
        count = chance.choice((0, 0, 1, 1, 1, 1, 2, 2, 3)) if start is None else chance.choice((1, 1, 2))
        for position in range(count + 1):
            if start is not None and not path and not position:
                name = start
            elif known and chance.random() < 0.15:
                name = chance.choice(known)
            else:
                name = making.new("node", "n")
                known.append(name)
            label = chance.choice((*(None,) * 9, *LABELS))
            places.append(Place(name, label, chance.choice((*(None,) * 9, 0, 1))))
            if position < count:
                length = chance.choice((None, None, None, None, (1, 2), (0, 2), (1, None), (2, 3)))
                types = chance.choice(((), (), (), (), ("R",), ("S",), ("R", "S")))
                name = making.new("hop" if length is None else "trail", "r")
                hops.append(Hop(name, types, chance.choice(("out", "out", "in", "both", "both")), length))
        made.append((places, hops))
    text = ", ".join(shown_path(places, hops) for places, hops in made)
    world = making.world

    def find(row: Row) -> list[Row]:
        found = []
        for one in extended(world, made, row, frozenset()):
            found.append(one)
            if len(found) > MOST_ROWS:
                raise TooMuchError
        return found

    return text, find


def shown_path(places: list[Place], hops: list[Hop]) -> str:
    def node(place: Place) -> str:
        label = "" if place.label is None else f":{place.label}"
        return f"({place.name}{label}{'' if place.value is None else f' {{x: {place.value}}}'})"

    def hop(one: Hop) -> str:
        length = ""
        if one.length is not None:
            least, most = one.length
            length = f"*{least}..{'' if most is None else most}"
        inside = f"[{one.name}{':' if one.types else ''}{'|'.join(one.types)}{length}]"
        return f"{'<-' if one.direction == 'in' else '-'}{inside}{'->' if one.direction == 'out' else '-'}"

    return node(places[0]) + "".join(hop(one) + node(place) for one, place in zip(hops, places[1:], strict=True))
