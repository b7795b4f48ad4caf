"""List comprehensions and quantifiers over all rows at once.

All lists are taken apart into one long column of items, the inner expressions are evaluated on it like on any other
rows (so kernels, property fetches and patterns work inside), and the answers are put back together row by row.
"""

import numpy as np
import polars as pl

from vaultgraph.cypher.execute.bindings import Bindings, BoundColumn, ValueColumn
from vaultgraph.cypher.execute.choices import OperandOf
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.fetch import column_values, take, take_rows
from vaultgraph.cypher.execute.rows import Items, put_together, take_apart, to_column, with_nulls
from vaultgraph.cypher.execute.variables import variables_of
from vaultgraph.cypher.syntax import Expression, ListComprehension, Quantifier
from vaultgraph.cypher.value_operators import truth
from vaultgraph.graph.columns import Ids


def evaluate_items(
    part: ListComprehension | Quantifier, bindings: Bindings, context: Context, operand_of: OperandOf
) -> BoundColumn:
    """A list a row, or a Boolean a row; null where the source is null.

    Raises:
        Refusal: a source that is no list, or a condition that is not boolean.
        BudgetError: too many items.
    """
    purpose = "A list comprehension" if isinstance(part, ListComprehension) else f"{part.kind}()"
    source = to_column(operand_of(part.source, bindings, context), bindings.height)
    items = take_apart(source, purpose, context.budget)
    inner = _inner_rows(part, items, bindings)
    if isinstance(part, Quantifier):
        counts = _count_answers(part.where, inner, items.rows, bindings.height, context, operand_of)
        return with_nulls(_quantified(part.kind, *counts), items.is_null)
    rows = items.rows
    if part.where is not None and len(rows):
        answers = _truths(part.where, inner, context, operand_of)
        kept = np.flatnonzero(answers.fill_null(value=False).to_numpy())
        if len(kept) < len(rows):
            inner, rows = take_rows(inner, kept), rows[kept]
    made = inner.columns[part.variable]
    if part.projection is not None and len(rows):
        made = to_column(operand_of(part.projection, inner, context), len(rows))
    return with_nulls(put_together(made, rows, bindings.height, context.budget), items.is_null)


def _inner_rows(part: ListComprehension | Quantifier, items: Items, bindings: Bindings) -> Bindings:
    """A row an item: the item under its name, and the outer variables that the inner expressions read."""
    projection = part.projection if isinstance(part, ListComprehension) else None
    names = variables_of(part.where, projection) - {part.variable}
    outer = {name: take(bindings.columns[name], items.rows) for name in names if name in bindings.columns}
    return Bindings(len(items.rows), {**outer, part.variable: items.column})


def _truths(where: Expression, inner: Bindings, context: Context, operand_of: OperandOf) -> pl.Series:
    """The condition of every item, Boolean with nulls."""
    column = to_column(operand_of(where, inner, context), inner.height)
    if isinstance(column, ValueColumn) and column.series.dtype in (pl.Boolean(), pl.Null()):
        return column.series.cast(pl.Boolean)
    # row loop: only to find the cell that is not boolean
    return pl.Series([truth(value, "WHERE") for value in column_values(column)], dtype=pl.Boolean)


def _count_answers(
    where: Expression, inner: Bindings, rows: Ids, height: int, context: Context, operand_of: OperandOf
) -> tuple[Ids, Ids, Ids]:
    """How many items of each row are true, false and unknown."""
    if not inner.height:
        zero = np.zeros(height, dtype=np.int64)
        return zero, zero, zero
    answers = _truths(where, inner, context, operand_of)
    total = np.bincount(rows, minlength=height)
    trues = np.bincount(rows[answers.fill_null(value=False).to_numpy()], minlength=height)
    unknowns = np.bincount(rows[answers.is_null().to_numpy()], minlength=height)
    return trues, total - trues - unknowns, unknowns


def _quantified(kind: str, trues: Ids, falses: Ids, unknowns: Ids) -> ValueColumn:
    """The answers of a quantifier; `scalar.quantified` is its twin."""
    match kind:
        case "all":
            decided, answer = falses > 0, falses == 0
        case "any":
            decided, answer = trues > 0, trues > 0
        case "none":
            decided, answer = trues > 0, trues == 0
        case _:
            decided, answer = trues > 1, trues == 1
    series = pl.Series(answer)
    unknown = ~decided & (unknowns > 0)
    return ValueColumn(series.set(pl.Series(unknown), None) if unknown.any() else series)
