"""Columns whose cells differ in type: cut into typed parts for the kernels, and membership in lists of objects.

A property that is a number in one note and text in the next must not make every comparison a slow loop: each type goes
through its kernel, and only what no kernel takes is looped over.
"""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Final

import numpy as np

from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.execute.bindings import BoundColumn, ObjectColumn, ValueColumn
from vaultgraph.cypher.execute.fetch import concat, from_values, take
from vaultgraph.cypher.execute.operand import Constant, Operand
from vaultgraph.cypher.execute.rows import cells_of, map_rows, watched
from vaultgraph.cypher.value_operators import is_member
from vaultgraph.cypher.values import NodeRef, RelationshipRef, group_key, is_list
from vaultgraph.graph.columns import Ids

_PARTED: Final = frozenset({type(None), bool, int, float, str, date, datetime, NodeRef, RelationshipRef})
_FEW_ROWS: Final = 32  # below, cutting costs more than the loop
_FEW_ITEMS: Final = 8

PartKernel = Callable[[Sequence[Operand], int], BoundColumn | None]


def map_mixed(
    kernel: PartKernel, apply: Callable[..., object], operands: Sequence[Operand], height: int, budget: Budget
) -> BoundColumn:
    """``apply`` in every row, through ``kernel`` for the rows whose cells it takes.

    Raises:
        Refusal: from ``apply`` or the kernel.
        BudgetError: the budget ran out.
    """
    place = next((place for place, one in enumerate(operands) if isinstance(one, ObjectColumn)), None)
    if place is None or height < _FEW_ROWS:
        return map_rows(apply, operands, height, budget)
    parts = _parts(operands[place])
    if parts is None:
        return map_rows(apply, operands, height, budget)
    made: list[BoundColumn] = []
    for rows, column in parts:
        budget.check()
        chosen = [one if isinstance(one, Constant) else take(one, rows) for one in operands]
        chosen[place] = column
        answer = None if isinstance(column, ObjectColumn) else kernel(chosen, len(rows))
        if answer is None:
            rest = map_rows if isinstance(column, ObjectColumn) else _next(kernel)
            answer = rest(apply, chosen, len(rows), budget)
        made.append(answer)
    return in_order([(rows, answer) for (rows, _), answer in zip(parts, made, strict=True)])


def _next(kernel: PartKernel) -> Callable[..., BoundColumn]:
    """`map_mixed` with the same kernel: one operand fewer is mixed by now."""

    def run(apply: Callable[..., object], operands: Sequence[Operand], height: int, budget: Budget) -> BoundColumn:
        return map_mixed(kernel, apply, operands, height, budget)

    return run


def _parts(operand: Operand) -> list[tuple[Ids, BoundColumn]] | None:
    """The rows of each type with their cells, None where a cell is of a type that no kernel takes."""
    values = operand.values if isinstance(operand, ObjectColumn) else []
    rows_by_type: dict[type, list[int]] = {}
    # row loop: only the type of each cell is looked at
    for row, value in enumerate(values):
        rows_by_type.setdefault(type(value), []).append(row)
    if not rows_by_type.keys() <= _PARTED:
        return None
    return [
        (np.array(rows, dtype=np.int64), from_values([values[row] for row in rows])) for rows in rows_by_type.values()
    ]


def in_order(pieces: Sequence[tuple[Ids, BoundColumn]]) -> BoundColumn:
    """The pieces, which share out all rows among them, as one column in row order."""
    if len(pieces) == 1:
        return pieces[0][1]
    rows = np.concatenate([rows for rows, _ in pieces])
    places = np.empty(len(rows), dtype=np.int64)
    places[rows] = np.arange(len(rows), dtype=np.int64)
    return take(concat([column for _, column in pieces]), places)


def in_lists(left: Operand, lists: list[object], budget: Budget) -> BoundColumn:
    """``left IN lists``, where the lists are Python objects: one that stands beside many rows is hashed once.

    Raises:
        Refusal: a cell of ``lists`` is neither a list nor null.
        BudgetError: the budget ran out.
    """
    answers: list[object] = []
    last: object = None
    keys: frozenset[object] | None = None
    has_null = False
    # row loop: lists are Python objects
    for item, items in watched(zip(cells_of(left, len(lists)), lists, strict=True), budget):
        if items is not last:
            last = items
            keys = _keys_of(items)
            has_null = keys is not None and is_list(items) and None in items
        if keys is None or item is None or type(item) not in _PARTED:
            answers.append(is_member(item, items))
        elif item == item and group_key(item) in keys:
            answers.append(True)
        else:
            answers.append(None if has_null else False)
    found = from_values(answers)
    return found if isinstance(found, ValueColumn) else ObjectColumn(answers)


def _keys_of(items: object) -> frozenset[object] | None:
    """What a list of plain items is hashed by; None for a short list or one that holds lists, maps or paths."""
    if not is_list(items) or len(items) < _FEW_ITEMS or not {type(item) for item in items} <= _PARTED:
        return None
    return frozenset(group_key(item) for item in items if item is not None and item == item)
