"""Expressions that read all their parts, on whole columns: which kernel is for which expression.

None where there is no kernel, or it declines; execute/evaluate then loops over rows.
"""

from collections.abc import Sequence
from typing import Final, assert_never

import numpy as np
import polars as pl

from vaultgraph.cypher.entities import node_properties, relationship_properties
from vaultgraph.cypher.execute.bindings import BoundColumn, NodeColumn, ObjectColumn, RelationshipColumn, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.kernels import (
    boolean_nulls,
    calculate,
    compare_columns,
    inverted,
    logic,
    negated,
    text_bytes,
)
from vaultgraph.cypher.execute.mixed import in_lists
from vaultgraph.cypher.execute.operand import Constant, Operand
from vaultgraph.cypher.execute.properties import labels_column, property_column
from vaultgraph.cypher.execute.rows import cells_of
from vaultgraph.cypher.execute.scalar import StrictExpression
from vaultgraph.cypher.execute.text_kernels import membership, text_predicate
from vaultgraph.cypher.execute.unlike_times import warn_times_as_texts, warn_unlike_times
from vaultgraph.cypher.syntax import (
    Binary,
    Comparison,
    HasLabels,
    Index,
    IsNull,
    ListLiteral,
    MapLiteral,
    MapProjection,
    Property,
    Slice,
    Unary,
)
from vaultgraph.graph.graph import Graph

_MAP_BYTES: Final = 240  # a small Python map


def strict_kernel(
    expression: StrictExpression, operands: Sequence[Operand], height: int, context: Context
) -> BoundColumn | None:
    """The expression over ``operands`` (at least one a column), None to decline.

    Raises:
        Refusal: a regular expression that cannot be used.
    """
    match expression:
        case Property(_, key):
            subject = operands[0]
            return None if isinstance(subject, Constant) else property_column(subject, key, context.graph)
        case Index():
            return _index(operands[0], operands[1], context.graph)
        case Unary(operator):
            return _unary(operator, operands[0], height)
        case Binary():
            return _binary(expression, operands[0], operands[1], height, context)
        case Comparison():
            return _comparison(expression, operands, height, context)
        case IsNull(_, wants_value):
            return None if isinstance(operands[0], Constant) else _null_test(operands[0], wants_value=wants_value)
        case HasLabels(_, labels):
            return _labels(operands[0], height) or (
                labels_column(operands[0], labels, context.graph)
                if isinstance(operands[0], NodeColumn | RelationshipColumn)
                else None
            )
        case MapProjection():
            return _map_projection(expression, operands, height, context)
        case ListLiteral() | MapLiteral() | Slice():
            return None
        case _:
            assert_never(expression)


def _labels(subject: Operand, height: int) -> ValueColumn | None:
    is_null = isinstance(subject, ValueColumn) and subject.series.dtype == pl.Null
    return boolean_nulls(height) if is_null else None


def _index(subject: Operand, index: Operand, graph: Graph) -> BoundColumn | None:
    if not isinstance(index, Constant) or isinstance(subject, Constant):
        return None
    if isinstance(index.value, str) and isinstance(subject, NodeColumn | RelationshipColumn):
        return property_column(subject, index.value, graph)
    is_position = isinstance(index.value, int) and not isinstance(index.value, bool)
    if is_position and isinstance(subject, ValueColumn) and isinstance(subject.series.dtype, pl.List):
        position = max(-(2**31), min(index.value, 2**31))  # type: ignore[type-var]
        return ValueColumn(subject.series.list.get(position, null_on_oob=True))
    return None


def _unary(operator: str, operand: Operand, height: int) -> ValueColumn | None:
    if operator == "NOT":
        return inverted(operand, height)
    return negated(operand) if operator == "-" else None


def _binary(part: Binary, left: Operand, right: Operand, height: int, context: Context) -> BoundColumn | None:
    operator = part.operator
    match operator:
        case "+" | "-" | "*" | "/" | "%" | "||":
            if operator in ("+", "||"):
                context.budget.check(size=text_bytes(left, height) + text_bytes(right, height))
            return calculate(operator, left, right, height)
        case "AND" | "OR" | "XOR":
            return logic(operator, left, right, height)
        case "IN" | "STARTS WITH" | "ENDS WITH" | "CONTAINS" | "=~":
            warn_times_as_texts(part, left, right, context)
            return _tested(operator, left, right, height, context)
        case _:
            return None


def _tested(operator: str, left: Operand, right: Operand, height: int, context: Context) -> BoundColumn | None:
    match operator:
        case "IN" if isinstance(right, ObjectColumn):
            return in_lists(left, right.values, context.budget)
        case "IN":
            return membership(left, right, height)
        case _:
            return text_predicate(operator, left, right, height, context.budget)


def _comparison(part: Comparison, operands: Sequence[Operand], height: int, context: Context) -> ValueColumn | None:
    sides = (part.first, *(side for _, side in part.rest))
    result: ValueColumn | None = None
    for place, (operator, _) in enumerate(part.rest):
        left, right = operands[place], operands[place + 1]
        if isinstance(left, Constant) and isinstance(right, Constant):
            return None
        compared = compare_columns(operator, left, right, height)
        if compared is None:
            return None
        warn_unlike_times((sides[place], left), (sides[place + 1], right), context)
        result = compared if result is None else ValueColumn(result.series & compared.series)
    return result


def _null_test(column: BoundColumn, *, wants_value: bool) -> ValueColumn:
    match column:
        case NodeColumn(ids) | RelationshipColumn(ids):
            return ValueColumn(pl.Series((ids >= 0) == wants_value))
        case ValueColumn(series):
            return ValueColumn(series.is_not_null() if wants_value else series.is_null())
        case ObjectColumn(values):
            # row loop: cells are Python objects
            return ValueColumn(pl.Series([(value is not None) is wants_value for value in values], dtype=pl.Boolean))


def _map_projection(
    part: MapProjection, operands: Sequence[Operand], height: int, context: Context
) -> ObjectColumn | None:
    """Maps of nodes or relationships; ``.*`` fetches every property once for all rows."""
    subject, *rest = operands
    if not isinstance(subject, NodeColumn | RelationshipColumn):
        return None
    context.budget.check(size=_MAP_BYTES * height)
    whole: list[dict[str, object]]
    if not part.everything:
        whole = [{}] * height
    elif isinstance(subject, NodeColumn):
        whole = node_properties(context.graph, subject.ids)
    else:
        whole = relationship_properties(context.graph, subject.ids)
    keys = [key for key, _ in part.entries]
    columns = [cells_of(operand, height) for operand in rest]
    cells = zip(*columns, strict=True) if columns else [()] * height
    is_null = np.less(subject.ids, 0).tolist()
    # row loop: the answer is a Python map a row
    made: list[object] = [
        None if gone else {**start, **dict(zip(keys, row, strict=True))}
        for gone, start, row in zip(is_null, whole, cells, strict=True)
    ]
    return ObjectColumn(made)
