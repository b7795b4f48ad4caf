"""Functions of lists and maps, and those that pick a value: size, head, range, coll.sort, coalesce, nullIf.

``keys`` of nodes and relationships is in functions/graphs. Part of the table in functions/registry.
"""

from collections.abc import Callable, Sequence
from typing import Final

import polars as pl

from vaultgraph.cypher.execute.bindings import BoundColumn, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.operand import Operand
from vaultgraph.cypher.functions.record import Function, Kernel, function
from vaultgraph.cypher.values import Refusal, equals, group_key, is_list, order_key

_MOST_ITEMS: Final = 10_000_000
_AT_ONCE: Final = 100_000
_DEEPEST: Final = 100  # levels of lists


def _list_kernel(work: Callable[[pl.Series], pl.Series]) -> Kernel:
    """A kernel of one List argument."""

    def run(arguments: Sequence[Operand], _context: Context) -> BoundColumn | None:
        match arguments:
            case [ValueColumn(series)] if isinstance(series.dtype, pl.List):
                return ValueColumn(work(series))
            case _:
                return None

    return run


def _size_kernel(arguments: Sequence[Operand], _context: Context) -> BoundColumn | None:
    match arguments:
        case [ValueColumn(series)] if series.dtype == pl.String:
            return ValueColumn(series.str.len_chars().cast(pl.Int64))
        case [ValueColumn(series)] if isinstance(series.dtype, pl.List):
            return ValueColumn(series.list.len().cast(pl.Int64))
        case _:
            return None


def _range(context: Context, start: int, end: int, step: int = 1) -> list[int]:
    """From ``start`` to ``end``, both included."""
    if not step:
        raise Refusal("range() needs a step that is not 0.")
    count = max(0, (end - start) // step + 1)
    if count > _MOST_ITEMS:
        raise Refusal(f"range() would make {count:,} numbers, over the cap of {_MOST_ITEMS:,}.")
    context.budget.check(count)
    numbers = range(start, end + (1 if step > 0 else -1), step)
    if count <= _AT_ONCE:
        return list(numbers)
    made: list[int] = []
    for first in range(0, count, _AT_ONCE):
        made.extend(numbers[first : first + _AT_ONCE])
        context.budget.check()
    return made


def _coalesce(*values: object) -> object:
    return next((value for value in values if value is not None), None)


def _null_if(value: object, other: object) -> object:
    return None if equals(value, other) else value


def _head(items: list[object]) -> object:
    return items[0] if items else None


def _last(items: list[object]) -> object:
    return items[-1] if items else None


def _tail(items: list[object]) -> list[object]:
    return items[1:]


def _is_empty(value: str | list[object] | dict[str, object]) -> bool:
    return not value


def _length(value: object) -> int:
    """Relationships of a path, characters of a text, items of a list."""
    if isinstance(value, str) or is_list(value):
        return len(value)
    return len(value.relationships)  # type: ignore[attr-defined]


def _sorted(items: list[object]) -> list[object]:
    return sorted(items, key=order_key)


def _distinct(items: list[object]) -> list[object]:
    found: dict[object, object] = {}
    # row loop: the items of one list
    for item in items:
        found.setdefault(group_key(item), item)
    return list(found.values())


def _index_of(items: list[object], value: object) -> int:
    """The first place that equals ``value``, -1 where none does."""
    return next((place for place, item in enumerate(items) if equals(item, value) is True), -1)


def _most(items: list[object]) -> object:
    return max((item for item in items if item is not None), key=order_key, default=None)


def _least(items: list[object]) -> object:
    return min((item for item in items if item is not None), key=order_key, default=None)


def _flattened(context: Context, items: list[object], depth: int = 1) -> list[object]:
    """The items of lists within the list in their places, ``depth`` levels of them."""
    for _ in range(min(max(depth, 0), _DEEPEST)):
        if not any(is_list(item) for item in items):
            break
        context.budget.check(sum(len(item) if is_list(item) else 1 for item in items))
        items = [one for item in items for one in (item if is_list(item) else [item])]
    return items


def functions() -> tuple[Function, ...]:
    """The functions of this family."""
    return (
        function("size(value :: STRING | LIST | MAP) :: INTEGER", len, _size_kernel),
        function("length(value :: PATH | STRING | LIST) :: INTEGER", _length, _size_kernel),
        function("head(list :: LIST) :: ANY", _head, _list_kernel(lambda lists: lists.list.first())),
        function("last(list :: LIST) :: ANY", _last, _list_kernel(lambda lists: lists.list.last())),
        function("tail(list :: LIST) :: LIST", _tail, _list_kernel(lambda lists: lists.list.slice(1))),
        function("isEmpty(value :: STRING | LIST | MAP) :: BOOLEAN", _is_empty),
        function(
            "range(start :: INTEGER, end :: INTEGER, step? :: INTEGER) :: LIST<INTEGER>", _range, takes_context=True
        ),
        function("coalesce(value... :: ANY) :: ANY", _coalesce, null_through=False),
        function("coll.sort(list :: LIST) :: LIST", _sorted),
        function("coll.distinct(list :: LIST) :: LIST", _distinct),
        function("coll.indexOf(list :: LIST, value :: ANY) :: INTEGER", _index_of),
        function("coll.max(list :: LIST) :: ANY", _most),
        function("coll.min(list :: LIST) :: ANY", _least),
        function("coll.flatten(list :: LIST, depth? :: INTEGER) :: LIST", _flattened, takes_context=True),
        function("nullIf(value :: ANY, other :: ANY) :: ANY", _null_if, null_through=False),
    )
