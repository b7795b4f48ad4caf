"""Clauses to a plan: one pass over the bound query, each clause on top of the one before.

Called by cypher/query. Patterns are planned by cypher/matching, WITH and RETURN by cypher/projections; what can be done
better with the whole tree in sight is left to cypher/rules.
"""

from collections.abc import Iterable, Mapping

from vaultgraph.cypher import operators
from vaultgraph.cypher.estimate import Statistics
from vaultgraph.cypher.matching import plan_patterns
from vaultgraph.cypher.operators import Argument, Distinct, Filter, Optional, Plan, Start, Union
from vaultgraph.cypher.plans import columns_of
from vaultgraph.cypher.procedures import procedure_called
from vaultgraph.cypher.projections import plan_projection
from vaultgraph.cypher.syntax import (
    CallProcedure,
    Clause,
    FunctionCall,
    Match,
    Parameter,
    PatternComprehension,
    PatternCount,
    Query,
    Return,
    SingleQuery,
    Syntax,
    Unwind,
    With,
)
from vaultgraph.cypher.trees import conjuncts, rewrite

ROW = " row"  # the column by which rows made from one row find back to it


def plan_query(
    query: Query, columns: tuple[str, ...], statistics: Statistics, parameters: Mapping[str, object]
) -> Plan:
    """The plan of a bound query, before any rule; ``columns`` are the names of its result."""
    parts = [_plan_part(rewrite(part, _counted), statistics, parameters) for part in query.parts]
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


def _plan_part(part: SingleQuery, statistics: Statistics, parameters: Mapping[str, object]) -> Plan:
    return plan_clauses(part.clauses, Start(), statistics, parameters)


def plan_clauses(
    clauses: Iterable[Clause], source: Plan, statistics: Statistics, parameters: Mapping[str, object]
) -> Plan:
    """The plan of bound clauses over the rows of ``source``, before any rule."""
    plan = source
    for clause in clauses:
        plan = _plan_clause(clause, plan, statistics, parameters)
    return plan


def _plan_clause(clause: Clause, plan: Plan, statistics: Statistics, parameters: Mapping[str, object]) -> Plan:
    match clause:
        case Match(patterns, where, optional):
            if not optional:
                return plan_patterns(patterns, where, plan, statistics, parameters)
            known = columns_of(plan)
            inner = plan_patterns(patterns, where, Argument((*sorted(known), ROW)), statistics, parameters)
            return Optional(plan, inner, tuple(sorted(columns_of(inner) - known - {ROW})), ROW)
        case Unwind(source, variable):
            return operators.Unwind(plan, source, variable)
        case With(projection, where):
            return plan_projection(plan, projection, where)
        case Return(projection):
            return plan_projection(plan, projection, None)
        case CallProcedure():
            return _plan_call(clause, plan)


def _plan_call(call: CallProcedure, plan: Plan) -> Plan:
    procedure = procedure_called(call.name)
    arguments = call.arguments
    if arguments is None:
        arguments = tuple(Parameter(name, at=call.at) for name in procedure.parameters)
    yields = call.yields
    if yields is None:
        yields = tuple((column, column) for column in procedure.columns)
    plan = operators.CallProcedure(plan, procedure.name, arguments, yields)
    for predicate in conjuncts(call.where):
        plan = Filter(plan, predicate)
    return plan
