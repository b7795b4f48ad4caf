"""From text to rows: parse, bind, plan, rules, run. The one way into the engine.

Called by vault/ and cli/. Knows the order of the stages and nothing of what they do.
"""

import time
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

import polars as pl

from vaultgraph.cypher.bind import bind
from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.clauses import parse
from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.execute.bindings import Bindings, ValueColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.pattern_runner import PlannedPatterns
from vaultgraph.cypher.execute.recorder import Recorder
from vaultgraph.cypher.execute.run import Run, run
from vaultgraph.cypher.operators import Plan
from vaultgraph.cypher.optimise import optimise
from vaultgraph.cypher.plan_cache import PlanCache, Planned, key_of
from vaultgraph.cypher.planner import plan_query
from vaultgraph.cypher.procedures import PROCEDURES, Procedure, Tables
from vaultgraph.cypher.result import Result
from vaultgraph.cypher.scopes import Names
from vaultgraph.errors import BudgetError, EvaluationError, UnsupportedError
from vaultgraph.graph.facts import Facts
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.schema import Schema, schema_of

_NOTHING: Mapping[str, object] = MappingProxyType({})


def run_query(
    graph: Graph,
    text: str,
    parameters: Mapping[str, object] | None = None,
    *,
    budget: Budget | None = None,
    schema: Names | None = None,
    tables: Tables | None = None,
    plans: PlanCache | None = None,
    procedures: Mapping[str, Procedure] | None = None,
) -> Result:
    """The answer of one query on one graph.

    ``schema`` knows the names in the graph: without one there are no warnings. ``tables`` are frames for procedures,
    ``plans`` the plans kept for this graph, ``procedures`` (by name in lower case) those a query may call beside the
    ones there are; with some no plan is kept. Without a budget only the cap of rows holds.

    Raises:
        QueryError: the query is wrong, not supported, fails while running, or needs more than its budget.
    """
    started = time.perf_counter()
    given = _NOTHING if parameters is None else parameters
    limits = Budget() if budget is None else budget
    limits.check()
    statistics = Statistics(schema.facts if isinstance(schema, Schema) else Facts(graph))
    planned = _planned(text, given, schema, statistics, None if procedures else plans, procedures)
    bound, plan, warnings = planned.bound, planned.plan, planned.bound.warnings
    if bound.query.mode == "explain":
        columns, bindings = _plan_rows(plan, statistics)
    else:
        frames: Tables = {} if tables is None else tables
        known = {**PROCEDURES, **procedures} if procedures else PROCEDURES
        recorder = Recorder() if bound.query.mode == "profile" else None
        patterns = PlannedPatterns(frames, statistics, known)
        context = Context(graph, given, text, limits, datetime.now().astimezone(), patterns, facts=statistics.facts)
        columns, bindings = bound.columns, _run(plan, Run(context, frames, None, known, recorder))
        if recorder is not None:
            columns, bindings = _plan_rows(plan, statistics, recorder)
        warnings = (*warnings, *context.warnings)
    return Result(
        columns,
        bindings,
        graph,
        warnings=warnings,
        elapsed_ms=(time.perf_counter() - started) * 1000,
        csv=bound.query.csv,
    )


def query(graph: Graph, text: str, **params: object) -> Result:
    """The answer of one query on a graph that is no vault's; ``params`` are its $parameters.

    Raises:
        QueryError: the query is wrong, or needs more than the default budget.
    """
    return run_query(graph, text, params, schema=schema_of(graph))


def _planned(
    text: str,
    parameters: Mapping[str, object],
    schema: Names | None,
    statistics: Statistics,
    plans: PlanCache | None,
    procedures: Mapping[str, Procedure] | None,
) -> Planned:
    """The query bound and planned, or the plan kept of it."""
    key = key_of(text, parameters)
    kept = None if plans is None else plans.get(key)
    if kept is not None:
        return kept
    try:
        bound = bind(parse(text), text, schema, parameters, procedures)
        plan = plan_query(bound.query, bound.columns, statistics, parameters)
        planned = Planned(bound, optimise(plan, frozenset(bound.columns), statistics))
    except RecursionError:
        raise UnsupportedError("The query has too many parts for one plan: split it into several.", text) from None
    if plans is not None:
        plans.put(key, planned)
    return planned


def _run(plan: Plan, state: Run) -> Bindings:
    try:
        return run(plan, state)
    except RecursionError:
        raise UnsupportedError("The query has too many parts to run as one: split it into several.") from None
    except pl.exceptions.PanicException as panic:
        raise EvaluationError(
            f"A step of the query failed inside the engine ({panic}). Write it another way."
        ) from None
    except MemoryError:
        raise BudgetError(
            "The query needs more memory than there is. Start from fewer nodes or bound variable-length patterns."
        ) from None


def _plan_rows(
    plan: Plan, statistics: Statistics, recorder: Recorder | None = None
) -> tuple[tuple[str, ...], Bindings]:
    """The answer of EXPLAIN, and with what was recorded of a run, that of PROFILE."""
    from vaultgraph.cypher.explain import explain  # noqa: PLC0415 -- few queries ask for it

    lines = explain(plan, statistics)
    columns = {
        "step": pl.Series([number for number, _ in enumerate(lines, 1)], dtype=pl.Int64),
        "operator": pl.Series(["· " * line.depth + line.operator for line in lines], dtype=pl.String),
        "details": pl.Series([line.details for line in lines], dtype=pl.String),
        "estimated_rows": pl.Series([round(line.rows) for line in lines], dtype=pl.Int64),
    }
    if recorder is not None:
        watches = [recorder.of(line.plan) for line in lines]
        columns["rows"] = pl.Series([watch.rows for watch in watches], dtype=pl.Int64)
        columns["ms"] = pl.Series([round(watch.seconds * 1000, 3) for watch in watches], dtype=pl.Float64)
    return tuple(columns), Bindings(len(lines), {name: ValueColumn(series) for name, series in columns.items()})
