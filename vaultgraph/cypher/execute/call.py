"""CALL: the rows of a procedure beside each row of the input.

Called by execute/run. Procedures take no arguments, so one is run once for all rows.
"""

import polars as pl

from vaultgraph.cypher.execute.bindings import Bindings, ValueColumn
from vaultgraph.cypher.execute.combine import join
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.operators import CallProcedure, Join, Start
from vaultgraph.cypher.procedures import Tables, procedure_called


def call_procedure(plan: CallProcedure, bindings: Bindings, context: Context, tables: Tables) -> Bindings:
    """Every row with every row of the procedure; only the columns that are asked for."""
    frame: pl.DataFrame = procedure_called(plan.name).rows(context.graph, tables)
    made = {variable: ValueColumn(frame[column]) for column, variable in plan.yields}
    return join(Join(Start(), Start()), bindings, Bindings(frame.height, made), context)
