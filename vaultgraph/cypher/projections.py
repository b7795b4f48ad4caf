"""WITH and RETURN to plans: projecting, grouping, order, skip, limit and the WHERE of a WITH.

Called by the planner. Without grouping and DISTINCT the rows are ordered and cut before anything is projected, so that
what is not returned is never fetched.
"""

from collections.abc import Mapping, Sequence

from vaultgraph.cypher.functions.aggregates import is_aggregate
from vaultgraph.cypher.operators import (
    Aggregate,
    Distinct,
    EmptyGroups,
    Extend,
    Filter,
    Items,
    Keep,
    Keys,
    Limit,
    LimitEach,
    Plan,
    Project,
    Skip,
    Sort,
)
from vaultgraph.cypher.plans import columns_of
from vaultgraph.cypher.syntax import (
    CountStar,
    Expression,
    FunctionCall,
    Literal,
    OrderItem,
    Projection,
    Syntax,
    Variable,
)
from vaultgraph.cypher.trees import any_tree, can_substitute, conjuncts, few, rewrite, substitute, variables_of
from vaultgraph.frozen import frozen


def plan_projection(
    plan: Plan,
    projection: Projection,
    where: Expression | None,
    carried: Sequence[str] = (),
    row: str | None = None,
) -> Plan:
    """The plan of a WITH or RETURN over ``plan``; its columns are the names of the items, and ``carried``.

    Within a subquery ``row`` (which is carried) numbers the rows of the query around it: groups, limits and distinct
    rows are those of one of its rows.
    """
    items = tuple((item.name, item.expression) for item in projection.items)
    names = {name for name, _ in items}
    is_grouped = any(_has_aggregate(expression) for _, expression in items)
    is_global = is_grouped and all(_has_aggregate(expression) for _, expression in items)
    items += tuple((name, Variable(name)) for name in carried if name not in names)
    cut = Cut(projection.skip, projection.limit, row)
    if is_grouped:
        empty = carried if is_global and row is not None else None
        return _grouped(plan, projection, items, where, cut, empty)
    if projection.distinct:
        return _distinct(plan, projection, items, where, cut)
    return _plain(plan, projection, items, where, cut)


@frozen
class Cut:
    """SKIP and LIMIT, of all rows or of those with one number in ``row``."""

    skip: Expression | None
    limit: Expression | None
    row: str | None

    def of(self, plan: Plan) -> Plan:
        """The plan with it on top."""
        if self.row is not None:
            has = self.skip is not None or self.limit is not None
            return LimitEach(plan, self.row, self.skip, self.limit) if has else plan
        if self.skip is not None:
            plan = Skip(plan, self.skip)
        return plan if self.limit is None else Limit(plan, self.limit)


def _has_aggregate(tree: Syntax) -> bool:
    return any_tree(tree, is_aggregate)


def _plain(plan: Plan, projection: Projection, items: Items, where: Expression | None, cut: Cut) -> Plan:
    outer = columns_of(plan)
    aliases = {name: expression for name, expression in items if expression != Variable(name)}
    if not all(can_substitute(order.expression, aliases) for order in projection.order):
        return _wide(plan, projection, items, where, cut)
    early: dict[str, Expression] = {}  # item name -> what stands for it before projecting
    for name, expression in items:
        early[name] = expression if isinstance(expression, Variable | Literal) else Variable(f" early {name}")
    keys = tuple((_ordered_early(order, items, early), order.descending) for order in projection.order)
    used = {name for expression, _ in keys for name in variables_of(expression)}
    hidden = tuple((f" early {name}", expression) for name, expression in items if f" early {name}" in used)
    if hidden:
        plan = Extend(plan, hidden)
    plan = cut.of(Sort(plan, keys) if keys else plan)
    known = {name for name, _ in hidden}
    items = tuple(
        (name, Variable(f" early {name}") if f" early {name}" in known else expression) for name, expression in items
    )
    if where is None:
        return Project(plan, items)
    names = {name for name, _ in items}
    carried = tuple((name, Variable(name)) for name in sorted((variables_of(where) & outer) - names))
    plan = _filtered(Project(plan, items + carried), where)
    return Keep(plan, tuple(name for name, _ in items)) if carried else plan


def _ordered_early(order: OrderItem, items: Items, early: Mapping[str, Expression]) -> Expression:
    """An ORDER BY expression over the columns before projecting; a name of an item means the item."""
    renamed = {name for name, expression in items if expression != Variable(name)}

    def same_item(part: Syntax) -> Syntax | None:
        for name, expression in items:
            if part == expression and not isinstance(part, Literal | Variable) and not variables_of(part) & renamed:
                return early[name]
        return None

    return rewrite(substitute(order.expression, early), same_item)


def _wide(plan: Plan, projection: Projection, items: Items, where: Expression | None, cut: Cut) -> Plan:
    """Project first and carry along what the later parts use: for patterns in ORDER BY that name an item."""
    names = {name for name, _ in items}
    used = {name for order in projection.order for name in variables_of(order.expression)}
    used |= variables_of(where) if where is not None else frozenset()
    carried = tuple((name, Variable(name)) for name in sorted((used & columns_of(plan)) - names))
    plan = Project(plan, items + carried)
    plan = cut.of(Sort(plan, tuple((order.expression, order.descending) for order in projection.order)))
    return Keep(_filtered(plan, where), tuple(name for name, _ in items))


def _distinct(plan: Plan, projection: Projection, items: Items, where: Expression | None, cut: Cut) -> Plan:
    plan = Distinct(Project(plan, items))
    keys: Keys = tuple((_over_items(order.expression, items), order.descending) for order in projection.order)
    plan = cut.of(Sort(plan, keys) if keys else plan)
    return _filtered(plan, None if where is None else _over_items(where, items))


def _grouped(
    plan: Plan,
    projection: Projection,
    items: Items,
    where: Expression | None,
    cut: Cut,
    empty: Sequence[str] | None,
) -> Plan:
    """``empty``: the columns carried by a group that is there also where there are no rows, None for no such group."""
    keys = tuple((name, expression) for name, expression in items if not _has_aggregate(expression))
    names = tuple(name for name, _ in items)
    shown = frozenset(names)
    calls = {name: expression for name, expression in items if is_aggregate(expression)}

    def over_groups(part: Syntax) -> Syntax | None:
        return _call_of(part, calls) or _key_of(part, keys)

    def over_outputs(part: Syntax) -> Syntax | None:
        if isinstance(part, Variable) and part.name in shown:
            return part
        return _key_of(part, items) or _call_of(part, calls)

    made = tuple(
        (name, rewrite(expression, over_groups))
        for name, expression in items
        if name not in calls and (name, expression) not in keys
    )
    order = tuple((rewrite(item.expression, over_outputs), item.descending) for item in projection.order)
    plan = Aggregate(plan, keys, tuple(calls.items()))
    if empty is not None and cut.row is not None:
        plan = EmptyGroups(plan, cut.row, tuple(name for name in empty if name != cut.row), plan.calls)
    if made:
        plan = Extend(plan, made)
    if projection.distinct:
        plan = Distinct(Keep(plan, names) if columns_of(plan) != shown else plan)
    plan = cut.of(Sort(plan, order) if order else plan)
    if columns_of(plan) != shown:
        plan = Keep(plan, names)
    return _filtered(plan, None if where is None else _over_items(where, items))


def _call_of(part: Syntax, calls: dict[str, FunctionCall | CountStar]) -> Variable | None:
    """The column of an aggregate; one that is not yet among ``calls`` is added under a hidden name."""
    if not is_aggregate(part):
        return None
    name = next((name for name, call in calls.items() if call == part), f" call {len(calls)}")
    calls[name] = part
    return Variable(name, at=part.at)


def _key_of(part: Syntax, keys: Items) -> Variable | None:
    for name, expression in keys:
        if part == expression and not isinstance(expression, Literal):
            return Variable(name, at=part.at)
    return None


def _over_items(expression: Expression, items: Items) -> Expression:
    """The expression over the projected columns: a part that is written like an item means the item."""
    names = {name for name, _ in items}

    def change(part: Syntax) -> Syntax | None:
        if isinstance(part, Variable) and part.name in names:
            return part
        return _key_of(part, items)

    return rewrite(expression, change)


def _filtered(plan: Plan, where: Expression | None) -> Plan:
    for predicate in few(conjuncts(where)):
        plan = Filter(plan, predicate)
    return plan
