"""The naive side of benchmarks/query_fuzz.py: small graphs, three-valued logic and matching by trying everything."""

from collections.abc import Iterator
from dataclasses import dataclass

MOST_ROWS = 2_000

Value = int | float | str | bool | tuple | None
Row = dict[str, object]  # nodes as ("node", number), relationships as ("hop", number), trails as tuples of these


class TooMuchError(Exception):
    """A query with more rows than are worth trying."""


@dataclass(frozen=True)
class World:
    """``nodes`` are (labels, properties), ``hops`` (source, type, target, properties); by number."""

    nodes: list[tuple[tuple[str, ...], dict]]
    hops: list[tuple[int, str, int, dict]]

    def read(self, one: object, key: str) -> Value:
        """A property, null of null."""
        if one is None:
            return None
        kind, number = one
        return (self.nodes[number][1] if kind == "node" else self.hops[number][3]).get(key)


def compared(left: Value, operator: str, right: Value) -> bool | None:
    if left is None or right is None:
        return None
    if operator in ("=", "<>"):
        same = type(left) is type(right) and left == right
        return same == (operator == "=")
    if isinstance(left, str) != isinstance(right, str):
        return None
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[operator]


def both(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def negated(value: bool | None) -> bool | None:
    return None if value is None else not value


@dataclass(frozen=True)
class Hop:
    name: str
    types: tuple[str, ...]
    direction: str
    length: tuple[int, int | None] | None


@dataclass(frozen=True)
class Place:
    name: str
    label: str | None
    value: int | None


def extended(world: World, paths: list, row: Row, used: frozenset[int]) -> Iterator[Row]:
    if not paths:
        yield row
        return
    (places, hops), *rest = paths
    for node in range(len(world.nodes)):
        if fits(world, places[0], node, row):
            now = row | {places[0].name: ("node", node)}
            yield from walked(world, places, hops, 0, node, now, used, rest)


def fits(world: World, place: Place, node: int, row: Row) -> bool:
    labels, data = world.nodes[node]
    return (
        row.get(place.name, ("node", node)) == ("node", node)
        and (place.label is None or place.label in labels)
        and (place.value is None or data.get("x") == place.value)
    )


def walked(world, places, hops, position, node, row, used, rest) -> Iterator[Row]:
    if position == len(hops):
        yield from extended(world, rest, row, used)
        return
    hop, place = hops[position], places[position + 1]
    for trail, far in trails(world, hop, node, used):
        if fits(world, place, far, row):
            value = ("hop", trail[0]) if hop.length is None else tuple(("hop", one) for one in trail)
            now = row | {hop.name: value, place.name: ("node", far)}
            yield from walked(world, places, hops, position + 1, far, now, used | set(trail), rest)


def steps(world: World, types: tuple[str, ...], direction: str, node: int) -> Iterator[tuple[int, int]]:
    for one, (source, kind, target, _) in enumerate(world.hops):
        if types and kind not in types:
            continue
        if direction != "in" and source == node:
            yield one, target
        if direction != "out" and target == node and (source != target or direction == "in"):
            yield one, source


def trails(world: World, hop: Hop, node: int, used: frozenset[int]) -> Iterator[tuple[tuple[int, ...], int]]:
    least, most = hop.length or (1, 1)
    waiting: list[tuple[int, tuple[int, ...]]] = [(node, ())]
    tried = 0
    while waiting:
        tried += 1
        if tried > 10 * MOST_ROWS:
            raise TooMuchError
        at, trail = waiting.pop()
        if least <= len(trail):
            yield trail, at
        if most is None or len(trail) < most:
            for one, far in steps(world, hop.types, hop.direction, at):
                if one not in used and one not in trail:
                    waiting.append((far, (*trail, one)))


def plain(world: World, value: object) -> Value:
    if isinstance(value, tuple) and value and value[0] in ("node", "hop"):
        return world.read(value, "id" if value[0] == "node" else "k")
    return tuple(plain(world, one) for one in value) if isinstance(value, tuple) else value


def place(value: Value) -> tuple:
    """The place of a value in an order: nulls last, lists by their items."""
    if isinstance(value, tuple):
        return (0, tuple(place(one) for one in value))
    return (1, 0) if value is None else (0, value)
