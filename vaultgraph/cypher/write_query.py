"""From a statement that writes to a changed graph and its rows: the way in beside cypher/query, which only reads.

Clause by clause: runs of clauses that read go through planner and operators on a frozen graph, clauses that write work
over their rows on the graph that changes. A statement that fails leaves the graph as it was. Vaults never come here:
their notes are changed by editing files.
"""

import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import assert_never

from vaultgraph.cypher.bind_writes import BoundPart, bind_statement
from vaultgraph.cypher.budget import Budget
from vaultgraph.cypher.execute.aggregate import distinct
from vaultgraph.cypher.execute.bindings import Bindings
from vaultgraph.cypher.execute.combine import stack
from vaultgraph.cypher.execute.run import Run, run
from vaultgraph.cypher.execute.write_create import create
from vaultgraph.cypher.execute.write_delete import delete
from vaultgraph.cypher.execute.write_foreach import foreach
from vaultgraph.cypher.execute.write_merge import merge
from vaultgraph.cypher.execute.write_set import alter
from vaultgraph.cypher.execute.write_state import Writing
from vaultgraph.cypher.operators import Argument, Plan, Start
from vaultgraph.cypher.optimise import optimise
from vaultgraph.cypher.planner import plan_clauses
from vaultgraph.cypher.procedures import PROCEDURES, Procedure, Tables
from vaultgraph.cypher.query import run_query
from vaultgraph.cypher.result import Result
from vaultgraph.cypher.syntax import Clause
from vaultgraph.cypher.write_clauses import parse_statement, writes
from vaultgraph.cypher.write_syntax import Alter, Create, Delete, Foreach, Merge, WriteClause
from vaultgraph.errors import ReadOnlyError, UnsupportedError
from vaultgraph.graph.freezing import freeze
from vaultgraph.graph.mutable import MutableGraph

_NOTHING: Mapping[str, object] = MappingProxyType({})


def run_write(
    graph: MutableGraph,
    text: str,
    parameters: Mapping[str, object] | None = None,
    *,
    budget: Budget | None = None,
    tables: Tables | None = None,
    procedures: Mapping[str, Procedure] | None = None,
) -> Result:
    """The answer of one statement, and ``graph`` changed as it says.

    Nodes and relationships in the answer carry the ids of a frozen graph, as in answers of `run_query`. A statement
    that only reads is handed to `run_query`. ``procedures`` (by name in lower case) may be called as well.

    Raises:
        QueryError: the statement is wrong, not supported, fails while running, or needs more than its budget; then
            nothing is changed.
    """
    started = time.perf_counter()
    given = _NOTHING if parameters is None else parameters
    limits = Budget() if budget is None else budget
    if not writes(text):
        return run_query(freeze(graph).graph, text, given, budget=limits, tables=tables, procedures=procedures)
    try:
        statement = parse_statement(text)
    except ReadOnlyError as error:
        reason = "A clause that writes cannot stand here, only at the top of a statement."
        raise UnsupportedError(reason, text, error.start, error.end) from None
    if not any(isinstance(clause, WriteClause) for part in statement.parts for clause in part.clauses):
        return run_query(freeze(graph).graph, text, given, budget=limits, tables=tables, procedures=procedures)
    bound = bind_statement(statement, text, None, given, procedures)
    known = {**PROCEDURES, **procedures} if procedures else PROCEDURES
    writing = Writing(graph, given, text, limits, {} if tables is None else tables, known)
    try:
        with graph.all_or_nothing():
            parts = [_run_part(part, writing) for part in bound.parts]
            writing.check_doomed()
            rows = [writing.to_frozen(part) for part in parts]
    except RecursionError:
        raise UnsupportedError("The statement has too many parts to run as one: split it into several.", text) from None
    frozen, context, _ = writing.frozen()
    columns = bound.parts[0].columns
    joined = rows[0]
    if len(rows) > 1:
        joined = stack(rows, columns)
        joined = joined if bound.keeps_all else distinct(joined, context)
    return Result(
        columns,
        joined,
        frozen.graph,
        warnings=(*bound.warnings, *writing.warnings),
        elapsed_ms=(time.perf_counter() - started) * 1000,
    )


def _run_part(part: BoundPart, writing: Writing) -> Bindings:
    """The rows of the result columns, with the ids of the graph that changes."""
    rows = Bindings(1, {})
    reads: list[Clause] = []
    known: tuple[str, ...] = ()
    for clause, names in part.clauses:
        if isinstance(clause, WriteClause):
            rows = _write(clause, _read(reads, rows, known, writing), writing)
            rows = Bindings(rows.height, {name: rows.columns[name] for name in rows.columns if name[0] != " "})
            reads = []
        else:
            reads.append(clause)
        known = names
    rows = _read(reads, rows, known, writing)
    return Bindings(rows.height if part.columns else 0, {name: rows.columns[name] for name in part.columns})


def _write(clause: WriteClause, rows: Bindings, writing: Writing) -> Bindings:
    writing.budget.check(rows.height)
    match clause:
        case Create():
            return create(clause, rows, writing)
        case Merge():
            return merge(clause, rows, writing)
        case Alter():
            return alter(clause, rows, writing)
        case Delete():
            return delete(clause, rows, writing)
        case Foreach():
            return foreach(clause, rows, writing, _write)
        case _:
            assert_never(clause)


def _read(clauses: Sequence[Clause], rows: Bindings, known: tuple[str, ...], writing: Writing) -> Bindings:
    """The rows after clauses that read; ``known`` are the variables after them."""
    if not clauses:
        return rows
    _, context, statistics = writing.frozen()
    names = frozenset(name for name in known if name[0] != " ")
    source: Plan = Argument(tuple(rows.columns)) if rows.columns or rows.height != 1 else Start()
    plan = optimise(plan_clauses(clauses, source, statistics, writing.parameters), names, statistics)
    found = run(plan, Run(context, writing.tables, writing.to_frozen(rows), writing.procedures))
    return writing.to_stable(Bindings(found.height, {name: found.columns[name] for name in names}))
