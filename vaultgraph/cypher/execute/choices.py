"""Expressions that read a part only for the rows that need it: AND, OR, CASE and coalesce.

``CASE WHEN x <> 0 THEN 1 / x END`` must not divide by zero, and a condition after AND is only worked out where it can
still matter. Each part is evaluated on the chosen rows at once; the pieces are then put back in order.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl

from vaultgraph.cypher.execute.bindings import Bindings, BoundColumn, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.fetch import filter_rows, height_of, nulls, take, take_rows
from vaultgraph.cypher.execute.kernels import compare_columns, logic
from vaultgraph.cypher.execute.mixed import in_order
from vaultgraph.cypher.execute.operand import Constant, Operand
from vaultgraph.cypher.execute.rows import map_rows, to_column
from vaultgraph.cypher.execute.variables import variables_of
from vaultgraph.cypher.syntax import Binary, Case, Expression, FunctionCall, Span
from vaultgraph.cypher.value_operators import BINARY, truth
from vaultgraph.cypher.values import equals
from vaultgraph.graph.columns import Ids

OperandOf = Callable[[Expression, Bindings, Context], Operand]
"""How a part is evaluated: given by execute/evaluate, which imports this module."""


def evaluate_logic(part: Binary, bindings: Bindings, context: Context, operand_of: OperandOf) -> Operand:
    """``AND`` and ``OR``: the right side only where the left one does not decide."""
    decided = part.operator == "OR"
    left = operand_of(part.left, bindings, context)
    if isinstance(left, Constant):
        known = truth(left.value, part.operator)
        if known is decided:
            return Constant(known)
        right = operand_of(part.right, bindings, context)
        return _combined(part.operator, Constant(known), right, bindings.height, context)
    left = _boolean_column(left, part.operator, context)
    is_open = (left.series != decided).fill_null(value=True).to_numpy()
    rows = np.flatnonzero(is_open)
    if not len(rows):
        return left
    if len(rows) == bindings.height:
        right = operand_of(part.right, bindings, context)
        return _combined(part.operator, left, right, bindings.height, context)
    chosen = take_rows(bindings, rows, list(variables_of(part.right)))
    right = operand_of(part.right, chosen, context)
    answer = to_column(_combined(part.operator, take(left, rows), right, len(rows), context), len(rows))
    answer = _boolean_column(answer, part.operator, context)
    return ValueColumn(left.series.scatter(rows, answer.series))


def _boolean_column(column: BoundColumn, operator: str, context: Context) -> ValueColumn:
    if not (isinstance(column, ValueColumn) and column.series.dtype == pl.Boolean):
        column = map_rows(partial(truth, operator=operator), [column], height_of(column), context.budget)
    series = column.series if isinstance(column, ValueColumn) else pl.Series([], dtype=pl.Boolean)
    return ValueColumn(series.cast(pl.Boolean))


def _combined(operator: str, left: Operand, right: Operand, height: int, context: Context) -> Operand:
    if isinstance(left, Constant) and isinstance(right, Constant):
        return Constant(BINARY[operator](left.value, right.value))
    return logic(operator, left, right, height) or map_rows(BINARY[operator], [left, right], height, context.budget)


def evaluate_case(part: Case, bindings: Bindings, context: Context, operand_of: OperandOf) -> Operand:
    """Branch by branch, each on the rows no earlier one took."""
    subject = None if part.subject is None else to_column(operand_of(part.subject, bindings, context), bindings.height)
    names = list(variables_of(part))
    open_rows = np.arange(bindings.height, dtype=np.int64)
    pieces: list[tuple[Ids, BoundColumn]] = []
    for when, then in part.branches:
        if not len(open_rows):
            break
        chosen = take_rows(bindings, open_rows, names)
        condition = operand_of(when, chosen, context)
        if subject is not None:
            condition = _equal(take(subject, open_rows), condition, len(open_rows), context)
        is_taken = _true_rows(condition, len(open_rows), when.at, context)
        rows, open_rows = open_rows[is_taken], open_rows[~is_taken]
        if len(rows):
            pieces.append((rows, _on_rows(then, rows, bindings, context, operand_of)))
    if len(open_rows):
        default = part.default
        rest = nulls(len(open_rows)) if default is None else _on_rows(default, open_rows, bindings, context, operand_of)
        pieces.append((open_rows, rest))
    return in_order(pieces)


def evaluate_coalesce(part: FunctionCall, bindings: Bindings, context: Context, operand_of: OperandOf) -> Operand:
    """The first argument that is not null, each evaluated on the rows that are still null."""
    first = operand_of(part.arguments[0], bindings, context)
    if isinstance(first, Constant) and first.value is not None:
        return first
    open_rows = np.arange(bindings.height, dtype=np.int64)
    pieces: list[tuple[Ids, BoundColumn]] = []
    for number, argument in enumerate(part.arguments):
        if number == 0:
            column = to_column(first, bindings.height)
        else:
            column = _on_rows(argument, open_rows, bindings, context, operand_of)
        is_missing = _is_null(column)
        found = np.flatnonzero(~is_missing)
        if len(found):
            pieces.append((open_rows[found], take(column, found)))
        open_rows = open_rows[is_missing]
        if not len(open_rows):
            break
    if len(open_rows):
        pieces.append((open_rows, nulls(len(open_rows))))
    return in_order(pieces)


def _on_rows(part: Expression, rows: Ids, bindings: Bindings, context: Context, operand_of: OperandOf) -> BoundColumn:
    chosen = bindings
    if len(rows) < bindings.height:
        chosen = take_rows(bindings, rows, list(variables_of(part)))
    return to_column(operand_of(part, chosen, context), len(rows))


def _equal(subject: BoundColumn, value: Operand, height: int, context: Context) -> BoundColumn:
    compared = compare_columns("=", subject, value, height)
    return compared or map_rows(equals, [subject, value], height, context.budget)


def _true_rows(
    condition: Operand, height: int, span: Span, context: Context
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    return filter_rows(to_column(condition, height), context.text, span)


def _is_null(column: BoundColumn) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    match column:
        case ValueColumn(series):
            return series.is_null().to_numpy()
        case _ if hasattr(column, "ids"):
            return column.ids < 0  # type: ignore[union-attr]
        case _:
            # row loop: cells are Python objects
            return np.array([value is None for value in column.values], dtype=np.bool_)  # type: ignore[union-attr]
