"""Running a plan: each operator once, inputs first, the budget checked in between.

Called by cypher/query, and by execute/pattern_runner for plans inside expressions. All work is in the operators' own
modules.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Final, assert_never

from vaultgraph.cypher.execute.aggregate import aggregate_rows, distinct
from vaultgraph.cypher.execute.bindings import Bindings
from vaultgraph.cypher.execute.call import call_procedure
from vaultgraph.cypher.execute.calls import placed
from vaultgraph.cypher.execute.combine import join, optional, stack
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.degrees import degree
from vaultgraph.cypher.execute.expand import expand, expand_bound
from vaultgraph.cypher.execute.order import limit, limit_pieces, skip, sort, top
from vaultgraph.cypher.execute.paths import build_path, expand_variable, shortest_paths
from vaultgraph.cypher.execute.pieces import in_pieces
from vaultgraph.cypher.execute.project import extend, filter_bindings, keep, project, unwind
from vaultgraph.cypher.execute.reach import reach
from vaultgraph.cypher.execute.recorder import Recorder
from vaultgraph.cypher.execute.scan import count_nodes, scan_nodes
from vaultgraph.cypher.execute.seek import seek_index, seek_nodes
from vaultgraph.cypher.execute.subquery import apply, empty_groups, limit_each
from vaultgraph.cypher.execute.tally import tally
from vaultgraph.cypher.operators import (
    Aggregate,
    Apply,
    Argument,
    BuildPath,
    CallProcedure,
    CountNodes,
    Degree,
    Distinct,
    EmptyGroups,
    Expand,
    ExpandBound,
    ExpandVariable,
    Extend,
    Filter,
    Join,
    Keep,
    Limit,
    LimitEach,
    LimitPieces,
    Optional,
    Plan,
    Project,
    Reach,
    ScanNodes,
    SeekIndex,
    SeekNodes,
    ShortestPaths,
    Skip,
    Sort,
    Start,
    Tally,
    TopK,
    Union,
    Unwind,
)
from vaultgraph.cypher.procedures import PROCEDURES, Procedure, Tables
from vaultgraph.cypher.syntax import Span
from vaultgraph.errors import QueryError
from vaultgraph.frozen import frozen

PatternPlan = Expand | ExpandBound | ExpandVariable | Reach | ShortestPaths | Degree | Tally | BuildPath

_FEW_STARTS: Final = 32  # one can lead to a whole graph
_SOME_LISTS: Final = 32
_MANY_ROWS: Final = 65_536


@frozen
class Run:
    """What all operators of one run share; ``argument`` are the rows that Argument stands for.

    ``recorder`` notes what every operator takes, for PROFILE.
    """

    context: Context
    tables: Tables
    argument: Bindings | None = None
    procedures: Mapping[str, Procedure] = field(default_factory=lambda: PROCEDURES)
    recorder: Recorder | None = None

    def over(self, rows: Bindings) -> "Run":
        """The same run with other rows for Argument."""
        return replace(self, argument=rows)


def run(plan: Plan, state: Run) -> Bindings:
    """The rows of a plan.

    Raises:
        QueryError: EvaluationError or BudgetError while running.
    """
    recorder = state.recorder
    if recorder is None:
        bindings = _run(plan, state)
    else:
        with recorder.watching(plan) as watch:
            bindings = _run(plan, state)
            watch.rows += bindings.height
    state.context.budget.check(bindings.height)
    return bindings


def _run(plan: Plan, state: Run) -> Bindings:
    context = state.context
    match plan:
        case Start():
            return Bindings(1, {})
        case Argument(variables):
            given = Bindings(1, {}) if state.argument is None else state.argument
            return Bindings(given.height, {name: given.columns[name] for name in variables})
        case ScanNodes():
            return scan_nodes(plan, context)
        case SeekNodes():
            return seek_nodes(plan, context)
        case SeekIndex():
            return seek_index(plan, context)
        case CountNodes():
            return count_nodes(plan, context)
        case Join(left, right):
            return join(plan, run(left, state), run(right, state), context)
        case Union(parts, columns):
            return stack([run(part, state) for part in parts], columns)
        case Optional(source, inner):
            return optional(plan, run(source, state), lambda rows: run(inner, state.over(rows)))
        case LimitPieces(source, pipeline):
            rows = run(source, state)
            return limit_pieces(plan, rows, context, lambda piece: run(pipeline, state.over(piece)))
        case CallProcedure(source):
            procedure = state.procedures[plan.name.lower()]
            return call_procedure(plan, procedure, run(source, state), context, state.tables)
        case Apply(source, inner):
            return apply(plan, run(source, state), lambda rows: run(inner, state.over(rows)))
        case EmptyGroups(source):
            return empty_groups(plan, run(source, state), state.argument, context)
        case Expand() | ExpandBound() | ExpandVariable() | Reach() | ShortestPaths() | Degree() | Tally() | BuildPath():
            rows = run(plan.input, state)
            try:
                return _run_pattern(plan, rows, context)
            except QueryError as error:
                raise placed(error, _span(plan), context) from None
        case _:
            return _run_rows(plan, run(plan.input, state), context)


def _span(plan: PatternPlan) -> Span:
    """The place of the relationship pattern in the query, (0, 0) where it is not known."""
    match plan:
        case Expand() | ExpandBound() | Tally():
            return plan.at
        case ExpandVariable() | Reach() | ShortestPaths():
            return plan.trails.at
        case Degree() | BuildPath():
            return 0, 0


def _run_pattern(
    plan: PatternPlan,
    rows: Bindings,
    context: Context,
) -> Bindings:
    match plan:
        case Expand():
            return expand(plan, rows, context)
        case ExpandBound():
            return expand_bound(plan, rows, context)
        case ExpandVariable():
            return in_pieces(rows, context, _FEW_STARTS, lambda piece: expand_variable(plan, piece, context))
        case Reach():
            return in_pieces(rows, context, _FEW_STARTS, lambda piece: reach(plan, piece, context))
        case ShortestPaths():
            return in_pieces(rows, context, _FEW_STARTS, lambda piece: shortest_paths(plan, piece, context))
        case Degree():
            return degree(plan, rows, context)
        case Tally():
            return tally(plan, rows, context)
        case BuildPath():
            return build_path(plan, rows, context)


def _run_rows(
    plan: Filter | Extend | Project | Keep | Aggregate | Distinct | Sort | TopK | Skip | Limit | LimitEach | Unwind,
    rows: Bindings,
    context: Context,
) -> Bindings:
    match plan:
        case Filter(_, predicate):
            return in_pieces(rows, context, _MANY_ROWS, lambda piece: filter_bindings(piece, predicate, context))
        case Extend():
            return extend(plan, rows, context)
        case Project():
            return project(plan, rows, context)
        case Keep():
            return keep(plan, rows)
        case Aggregate():
            return aggregate_rows(plan, rows, context)
        case Distinct():
            return distinct(rows, context)
        case Sort():
            return sort(plan, rows, context)
        case TopK():
            return top(plan, rows, context)
        case Skip(_, count):
            return skip(count, rows, context)
        case Limit(_, count):
            return limit(count, rows, context)
        case LimitEach():
            return limit_each(plan, rows, context)
        case Unwind():
            return in_pieces(rows, context, _SOME_LISTS, lambda piece: unwind(plan, piece, context))
        case _:
            assert_never(plan)
