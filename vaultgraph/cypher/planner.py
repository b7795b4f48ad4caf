"""Clauses to a plan: one pass over the bound query, each clause on top of the one before.

Called by cypher/query. Patterns are planned by cypher/matching, WITH and RETURN by cypher/projections; what can be done
better with the whole tree in sight is left to cypher/rules.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from vaultgraph.cypher import operators
from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.matching import plan_patterns
from vaultgraph.cypher.operators import (
    Apply,
    Argument,
    Distinct,
    Filter,
    Join,
    Keep,
    Limit,
    Optional,
    Plan,
    Start,
    Union,
)
from vaultgraph.cypher.plans import columns_of
from vaultgraph.cypher.projections import plan_projection
from vaultgraph.cypher.syntax import (
    CallProcedure,
    CallSubquery,
    Clause,
    Finish,
    FunctionCall,
    Literal,
    Match,
    PatternComprehension,
    PatternCount,
    Query,
    Return,
    SingleQuery,
    Syntax,
    Unwind,
    With,
)
from vaultgraph.cypher.trees import conjuncts, is_stable, rewrite, variables_of
from vaultgraph.frozen import frozen

ROW = " row"  # the column by which rows made from one row find back to it


@frozen
class _Setting:
    """What planning reads, and within a subquery what must come through every clause.

    ``row`` is the column that numbers the rows of the query around it, ``outer`` are variables of that query.
    """

    statistics: Statistics
    parameters: Mapping[str, object]
    row: str | None = None
    outer: frozenset[str] = frozenset()

    def carried(self, clauses: Sequence[Syntax]) -> tuple[str, ...]:
        """What a projection keeps beside its items, for the clauses that follow it and its own condition."""
        if self.row is None:
            return ()
        used = frozenset[str]().union(*(variables_of(clause) for clause in clauses)) if self.outer else frozenset[str]()
        return (self.row, *sorted(self.outer & used))


def plan_query(
    query: Query, columns: tuple[str, ...], statistics: Statistics, parameters: Mapping[str, object]
) -> Plan:
    """The plan of a bound query, before any rule; ``columns`` are the names of its result."""
    return _plan_union(query, columns, Start(), _Setting(statistics, parameters))


def plan_subquery(
    query: Query,
    columns: tuple[str, ...],
    outer: tuple[str, ...],
    statistics: Statistics,
    parameters: Mapping[str, object],
    *,
    row: str = ROW,
    is_scoped: bool = True,
) -> Plan:
    """The plan of a bound query within another: over an Argument of ``outer`` and ``row``, the number of the row.

    Its rows have ``columns`` and ``row``. ``is_scoped``: ``outer`` stays known after WITH.
    """
    kept = frozenset(outer) if is_scoped else frozenset[str]()
    setting = _Setting(statistics, parameters, row, kept)
    return _plan_union(query, (*columns, row), Argument((*outer, row)), setting)


def _plan_union(query: Query, columns: tuple[str, ...], source: Plan, setting: _Setting) -> Plan:
    parts = [_plan_part(rewrite(part, _counted), source, setting) for part in query.parts]
    plan = parts[0]
    if len(parts) > 1 and len(set(query.union_all)) == 1:
        plan = Union(tuple(parts), columns)
        return plan if query.union_all[0] else Distinct(plan)
    for part, keeps_all in zip(parts[1:], query.union_all, strict=False):
        plan = Union((plan, part), columns)
        plan = plan if keeps_all else Distinct(plan)
    return plan


def _counted(tree: Syntax) -> Syntax | None:
    """The size of a pattern comprehension is the number of matches: no list is needed."""
    match tree:
        case FunctionCall(name, (PatternComprehension(pattern, where),)) if name.lower() == "size":
            return PatternCount((pattern,), where, at=tree.at)
        case _:
            return None


def _plan_part(part: SingleQuery, source: Plan, setting: _Setting) -> Plan:
    plan = source
    for number, clause in enumerate(part.clauses):
        plan = _plan_clause(clause, plan, setting, part.clauses[number + 1 :])
    match part.clauses:
        case (CallProcedure(yields=()),) if setting.row is None:
            return Limit(plan, Literal(0))  # a procedure without columns that stands alone answers nothing
        case _:
            return plan


def plan_clauses(
    clauses: Iterable[Clause], source: Plan, statistics: Statistics, parameters: Mapping[str, object]
) -> Plan:
    """The plan of bound clauses over the rows of ``source``, before any rule."""
    plan = source
    for clause in clauses:
        plan = _plan_clause(clause, plan, _Setting(statistics, parameters), ())
    return plan


def _plan_clause(clause: Clause, plan: Plan, setting: _Setting, later: Sequence[Clause]) -> Plan:
    statistics, parameters = setting.statistics, setting.parameters
    match clause:
        case Match(patterns, where, optional):
            if not optional:
                return plan_patterns(patterns, where, plan, statistics, parameters)
            known = columns_of(plan)
            row = fresh_row(known)
            inner = plan_patterns(patterns, where, Argument((*sorted(known), row)), statistics, parameters)
            return Optional(plan, inner, tuple(sorted(columns_of(inner) - known - {row})), row)
        case Unwind(source, variable):
            return operators.Unwind(plan, source, variable)
        case With(projection, where):
            return plan_projection(plan, projection, where, setting.carried((clause, *later)), setting.row)
        case Return(projection):
            return plan_projection(plan, projection, None, setting.carried((clause,)), setting.row)
        case Finish():
            return Limit(Keep(plan, setting.carried(())), Literal(0))
        case CallProcedure():
            return _plan_call(clause, plan)
        case CallSubquery():
            return _plan_call_subquery(clause, plan, setting)


def fresh_row(known: Collection[str]) -> str:
    """A name for a column of row numbers that is not among the ``known`` columns."""
    number, row = 1, ROW
    while row in known:
        number += 1
        row = f"{ROW} {number}"
    return row


def _plan_call(call: CallProcedure, plan: Plan) -> Plan:
    assert call.arguments is not None
    assert call.yields is not None
    plan = operators.CallProcedure(plan, call.name, call.arguments, call.yields)
    for predicate in conjuncts(call.where):
        plan = Filter(plan, predicate)
    return plan


def _plan_call_subquery(call: CallSubquery, plan: Plan, setting: _Setting) -> Plan:
    """A subquery that takes nothing is run once and joined; any other is run for all rows together."""
    imports = call.imports or ()
    if not imports and not call.optional and is_stable(call.query) and call.columns:
        inner = _plan_union(call.query, call.columns, Start(), _Setting(setting.statistics, setting.parameters))
        return inner if isinstance(plan, Start) else Join(plan, inner)
    known = columns_of(plan)
    row = fresh_row(known)
    inner = plan_subquery(
        call.query,
        call.columns,
        imports,
        setting.statistics,
        setting.parameters,
        row=row,
        is_scoped=call.is_scoped,
    )
    if not call.columns:
        return Apply(plan, inner, (), row, "unit")
    if call.optional:
        return Optional(plan, inner, call.columns, row)
    return Apply(plan, inner, call.columns, row)
