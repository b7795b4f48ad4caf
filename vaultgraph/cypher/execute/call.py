"""CALL: the rows of a procedure beside each row of the input.

Called by execute/run. A procedure is called once for each different set of arguments, and once in all without.
"""

from functools import cache

import numpy as np
import polars as pl

from vaultgraph.cypher.execute.bindings import Bindings, BoundColumn, ValueColumn
from vaultgraph.cypher.execute.combine import join, stack
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.evaluate import evaluate
from vaultgraph.cypher.execute.fetch import column_values, from_values, take_rows
from vaultgraph.cypher.execute.grouping import group_codes
from vaultgraph.cypher.execute.rows import watched
from vaultgraph.cypher.functions.record import Parameter
from vaultgraph.cypher.operators import CallProcedure, Join, Start
from vaultgraph.cypher.procedures import Procedure, Rows, Tables
from vaultgraph.cypher.values import type_name
from vaultgraph.errors import EvaluationError


def call_procedure(
    plan: CallProcedure, procedure: Procedure, bindings: Bindings, context: Context, tables: Tables
) -> Bindings:
    """Every row with every row the procedure gives for its arguments; only the columns that are asked for.

    Raises:
        EvaluationError: an argument is of the wrong type.
    """
    if not procedure.columns:
        return bindings
    if not plan.arguments or not bindings.height:
        if procedure.nothing is not None and not bindings.height:
            rows = procedure.nothing
        else:
            rows = _called(procedure, [None for _ in plan.arguments], plan, context, tables)
        made = _columns(rows, procedure, plan)
        return join(Join(Start(), Start()), bindings, made, context)
    columns = [evaluate(argument, bindings, context) for argument in plan.arguments]
    codes, firsts = group_codes(columns, bindings.height, context.budget)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(firsts)))
    cells = [column_values(column) for column in columns]
    tables = {name: cache(make) for name, make in tables.items()}  # made once for all the calls below
    parts: list[Bindings] = []
    places: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
    # row loop: one call for each different set of arguments
    for number, first in enumerate(watched(firsts.tolist(), context.budget)):
        arguments = [
            _checked(values[first], parameter, procedure, argument.at, context)
            for values, parameter, argument in zip(cells, procedure.parameters, plan.arguments, strict=False)
        ]
        made = _columns(_called(procedure, arguments, plan, context, tables), procedure, plan)
        stop = starts[number + 1] if number + 1 < len(starts) else len(order)
        same = order[starts[number] : stop]
        parts.append(join(Join(Start(), Start()), take_rows(bindings, same), made, context))
        places.append(np.repeat(same, made.height))
    together = stack(parts)
    return take_rows(together, np.argsort(np.concatenate(places), kind="stable"))


def _called(
    procedure: Procedure, arguments: list[object], plan: CallProcedure, context: Context, tables: Tables
) -> Rows:
    """What the procedure gives; what it refuses without a place in the query is placed at its first argument."""
    before = () if procedure.nothing is None else (context.budget,)
    try:
        return procedure.rows(context.graph, tables, *before, *arguments)
    except EvaluationError as refused:
        if refused.text or not plan.arguments:
            raise
        raise EvaluationError(refused.reason, context.text, *plan.arguments[0].at) from None


def _checked(
    value: object, parameter: Parameter, procedure: Procedure, at: tuple[int, int], context: Context
) -> object:
    """The argument as the procedure takes it: an integer is a float where only floats are taken."""
    types = parameter.types
    if value is None or not types or type_name(value) in types:
        return value
    if isinstance(value, int) and not isinstance(value, bool) and "FLOAT" in types:
        return float(value)
    raise EvaluationError(
        f"{procedure.name} cannot take {type_name(value)} as {parameter.name}: {procedure.signature}.",
        context.text,
        *at,
    )


def _columns(rows: Rows, procedure: Procedure, plan: CallProcedure) -> Bindings:
    """The columns that are asked for under the names of their variables."""
    if isinstance(rows, Bindings):
        return Bindings(rows.height, {variable: rows.columns[column] for column, variable in plan.yields})
    if not isinstance(rows, pl.DataFrame):
        # row loop: rows that a procedure gives as Python values
        columns: dict[str, BoundColumn] = {
            variable: from_values([row[procedure.columns.index(column)] for row in rows])
            for column, variable in plan.yields
        }
        return Bindings(len(rows), columns)
    return Bindings(rows.height, {variable: ValueColumn(rows[column]) for column, variable in plan.yields})
