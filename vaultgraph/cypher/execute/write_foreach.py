"""FOREACH: clauses that write, over a row for each item of a list; the rows around it stay as they are."""

from collections.abc import Callable

import numpy as np

from vaultgraph.cypher.execute.bindings import Bindings
from vaultgraph.cypher.execute.fetch import from_values, take_rows
from vaultgraph.cypher.execute.write_state import Writing
from vaultgraph.cypher.values import is_list, type_name
from vaultgraph.cypher.write_syntax import Foreach, WriteClause
from vaultgraph.graph.columns import Ids

Write = Callable[[WriteClause, Bindings, Writing], Bindings]


def foreach(clause: Foreach, rows: Bindings, writing: Writing, write: Write) -> Bindings:
    """The rows as they were; each clause inside runs through ``write`` for all items before the next one does.

    Raises:
        EvaluationError: the value is neither a list nor null, or see the clauses inside.
    """
    positions: list[int] = []
    items: list[object] = []
    # row loop: lists are Python values; as many items as there are
    for row, value in enumerate(writing.values(clause.source, rows)):
        if value is None:
            continue
        if not is_list(value):
            raise writing.error(f"FOREACH takes a list, not {type_name(value)}.", clause.source.at)
        positions += [row] * len(value)
        items += value
        writing.budget.check(len(items))
    places: Ids = np.array(positions, dtype=np.int64)
    inner = take_rows(rows, places)
    inner = Bindings(inner.height, {**inner.columns, clause.variable: from_values(items)})
    for one in clause.clauses:
        inner = write(one, inner, writing)
    return rows
