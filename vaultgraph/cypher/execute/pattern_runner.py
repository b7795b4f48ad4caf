"""Patterns and queries inside expressions: EXISTS, COUNT, COLLECT, pattern predicates and comprehensions.

The evaluator calls it through execute/context.PatternRunner. The pattern is planned once for all rows, with the
variables of the rows bound and a hidden row number beside them, and what it finds is grouped back by that number.
"""

from collections.abc import Mapping
from dataclasses import field
from itertools import pairwise

import numpy as np
import polars as pl

from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.execute.bindings import Bindings, BoundColumn, ObjectColumn, ValueColumn
from vaultgraph.cypher.execute.combine import rows_of, with_row
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.evaluate import evaluate
from vaultgraph.cypher.execute.fetch import column_values, take
from vaultgraph.cypher.execute.run import Run, run
from vaultgraph.cypher.matching import plan_patterns
from vaultgraph.cypher.operators import Aggregate, Argument, Degree, Distinct, Expand, Keep, Plan
from vaultgraph.cypher.optimise import optimise
from vaultgraph.cypher.planner import ROW, plan_subquery
from vaultgraph.cypher.procedures import PROCEDURES, Procedure, Tables
from vaultgraph.cypher.syntax import CountStar, Expression, PathPattern, Subquery, Syntax, Variable
from vaultgraph.cypher.trees import variables_of
from vaultgraph.frozen import frozen
from vaultgraph.graph.columns import Ids

_HOPS = " hops"


@frozen
class PlannedPatterns:
    """The PatternRunner of a running query."""

    tables: Tables
    statistics: Statistics
    procedures: Mapping[str, Procedure] = field(default_factory=lambda: PROCEDURES)

    def exists(
        self, patterns: tuple[PathPattern, ...], where: Expression | None, bindings: Bindings, context: Context
    ) -> ValueColumn:
        """Whether the patterns match: Boolean per row."""
        outer = _used((*patterns, where), bindings)
        inner = plan_patterns(patterns, where, Argument((*outer.columns, ROW)), self.statistics, context.parameters)
        plan = _only_counting(inner) or Distinct(Keep(inner, (ROW,)))
        found = np.zeros(bindings.height, dtype=np.bool_)
        found[rows_of(self._run(plan, frozenset((ROW,)), outer, context), ROW)] = True
        return ValueColumn(pl.Series(found))

    def count(
        self, patterns: tuple[PathPattern, ...], where: Expression | None, bindings: Bindings, context: Context
    ) -> ValueColumn:
        """How often they match: Int64 per row."""
        rows, hops = self._counted(patterns, where, bindings, context)
        if hops is None:
            return ValueColumn(pl.Series(np.bincount(rows, minlength=bindings.height).astype(np.int64)))
        counts = np.zeros(bindings.height, dtype=np.int64)
        counts[rows] = hops
        return ValueColumn(pl.Series(counts))

    def collect(
        self,
        pattern: PathPattern,
        where: Expression | None,
        projection: Expression,
        bindings: Bindings,
        context: Context,
    ) -> BoundColumn:
        """The projection of every match, a list per row, in the order in which the pattern is matched."""
        outer = _used((pattern, where, projection), bindings)
        inner = plan_patterns((pattern,), where, Argument((*outer.columns, ROW)), self.statistics, context.parameters)
        needed = variables_of(projection) | {ROW}
        made = self._run(inner, needed, outer, context)
        return _collected(made, evaluate(projection, made, context), bindings.height)

    def subquery(self, part: Subquery, bindings: Bindings, context: Context) -> BoundColumn:
        """The value of a query within braces: Boolean, Int64 or a list per row."""
        outer = _used((part.query,), bindings)
        names = tuple(outer.columns)
        inner = plan_subquery(part.query, part.columns, names, self.statistics, context.parameters)
        if part.kind == "collect":
            (column,) = part.columns
            made = self._run(inner, frozenset((column, ROW)), outer, context)
            return _collected(made, evaluate(Variable(column), made, context), bindings.height)
        rows = rows_of(self._run(inner, frozenset((ROW,)), outer, context), ROW)
        counts = np.bincount(rows, minlength=bindings.height).astype(np.int64)
        return ValueColumn(pl.Series(counts if part.kind == "count" else counts > 0))

    def _counted(
        self, patterns: tuple[PathPattern, ...], where: Expression | None, bindings: Bindings, context: Context
    ) -> tuple[Ids, Ids | None]:
        """The row number of each match, and how many matches it stands for where they were only counted."""
        outer = _used((*patterns, where), bindings)
        inner = plan_patterns(patterns, where, Argument((*outer.columns, ROW)), self.statistics, context.parameters)
        counted = _only_counting(inner)
        if counted is None and isinstance(inner, Expand) and not inner.is_bound:  # the last hop will become a weight
            counted = Aggregate(inner, ((ROW, Variable(ROW)),), ((_HOPS, CountStar()),))
        made = self._run(counted or inner, frozenset((ROW, _HOPS)), outer, context)
        return rows_of(made, ROW), None if counted is None else rows_of(made, _HOPS)

    def _run(self, plan: Plan, needed: frozenset[str], outer: Bindings, context: Context) -> Bindings:
        state = Run(context, self.tables, with_row(outer, ROW), self.procedures)
        return run(optimise(plan, needed, self.statistics), state)


def _only_counting(plan: Plan) -> Plan | None:
    """One hop to anything needs no rows of its own: the degrees tell."""
    match plan:
        case Expand(Argument(), source, _, _, types, direction, labels, False, unlike):
            return Degree(plan.input, source, types, direction, _HOPS, labels, unlike)
        case _:
            return None


def _collected(made: Bindings, values: BoundColumn, height: int) -> BoundColumn:
    """The values of each row as a list, in the order in which they were made."""
    rows = rows_of(made, ROW)
    if len(rows) > 1 and not (rows[1:] >= rows[:-1]).all():
        order = np.argsort(rows, kind="stable")
        rows, values = rows[order], take(values, order)
    return _as_lists(rows, values, height)


def _as_lists(rows: Ids, values: BoundColumn, height: int) -> BoundColumn:
    """The values of each row as a list; ``rows`` are ascending, a row that is not among them gets an empty list."""
    bounds = np.searchsorted(rows, np.arange(height + 1))
    if isinstance(values, ValueColumn) and not isinstance(values.series.dtype, pl.List | pl.Null):
        frame = pl.DataFrame({"row": pl.Series(rows), "value": values.series})
        lists = frame.group_by("row", maintain_order=True).agg("value")["value"]
        lists = pl.concat([lists, pl.Series([[]], dtype=lists.dtype)])
        places = np.cumsum(bounds[1:] > bounds[:-1]) - 1
        return ValueColumn(lists.gather(np.where(bounds[1:] > bounds[:-1], places, len(lists) - 1)))
    cells, stops = column_values(values), bounds.tolist()
    # row loop: lists of nodes, of lists and of mixed values are Python objects; one a row
    return ObjectColumn([cells[start:stop] for start, stop in pairwise(stops)])


def _used(trees: tuple[Syntax | None, ...], bindings: Bindings) -> Bindings:
    names = {name for tree in trees if tree is not None for name in variables_of(tree)}
    return Bindings(bindings.height, {name: column for name, column in bindings.columns.items() if name in names})
