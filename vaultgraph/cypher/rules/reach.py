"""Rule: where only the set of reached nodes matters, a variable-length pattern is searched, not listed trail by trail.

That is so below DISTINCT and below aggregates that do not see repeats, as long as nothing in between counts rows or
cuts them off. Runs after prune, which leaves out the columns of trails that nobody reads.
"""

from vaultgraph.cypher.operators import (
    Aggregate,
    Degree,
    Distinct,
    ExpandVariable,
    Limit,
    LimitPieces,
    Plan,
    Reach,
    Skip,
    Tally,
    TopK,
    Trails,
)
from vaultgraph.cypher.plans import inputs_of, with_inputs
from vaultgraph.cypher.syntax import CountStar, FunctionCall

_BLIND = frozenset({"min", "max"})  # aggregates to which repeats make no difference


def reach(plan: Plan) -> Plan:
    """The plan with searches in place of such patterns."""
    return _changed(plan, is_set=False)


def _changed(plan: Plan, is_set: bool) -> Plan:
    match plan:
        case Distinct():
            below = True
        case Aggregate(_, _, calls):
            below = all(_is_blind(call) for _, call in calls)
        case Limit() | LimitPieces() | Skip() | TopK() | Degree() | Tally():
            below = False
        case _:
            below = is_set
    plan = with_inputs(plan, tuple(_changed(part, below) for part in inputs_of(plan)))
    if is_set and isinstance(plan, ExpandVariable) and _is_worth_it(plan.trails):
        return Reach(plan.input, plan.source, plan.target, plan.trails, plan.labels, plan.is_bound, plan.unlike)
    return plan


def _is_blind(call: FunctionCall | CountStar) -> bool:
    return isinstance(call, FunctionCall) and (call.distinct or call.name.lower() in _BLIND)


def _is_worth_it(trails: Trails) -> bool:
    if trails.column is not None or trails.relationships is not None or trails.least > 1:
        return False
    return trails.most is None or trails.most > 1
