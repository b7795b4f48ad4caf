"""Reading and rewriting expression trees: which variables they use, their conjuncts, putting one for another.

Shared by the planner and the rules. Nothing here knows names of functions or the graph.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from vaultgraph.cypher.syntax import (
    Binary,
    Comparison,
    Expression,
    FunctionCall,
    IsNull,
    ListComprehension,
    Literal,
    NodePattern,
    Parameter,
    PathPattern,
    PatternComprehension,
    PatternCount,
    PatternPredicate,
    Property,
    Quantifier,
    Query,
    Reduce,
    RelationshipPattern,
    Subquery,
    Syntax,
    Unary,
    Variable,
)

_MANY = 40  # predicates from which on they are put together
_UNSTABLE = frozenset({"rand", "randomuuid", "timestamp"})


def children(tree: Syntax) -> Iterator[Syntax]:
    """The trees directly below, in the order they are written."""
    for name in type(tree).__match_args__:
        yield from _trees_in(getattr(tree, name))


def _trees_in(value: object) -> Iterator[Syntax]:
    if isinstance(value, Syntax):
        yield value
    elif isinstance(value, tuple):
        for item in value:  # pyright: ignore[reportUnknownVariableType]  a field of any tree
            if isinstance(item, Syntax):
                yield item
            else:
                yield from _trees_in(item)  # pyright: ignore[reportUnknownArgumentType]


def variables_of(tree: Syntax) -> frozenset[str]:
    """Every variable named anywhere in the tree: the free ones, and also those of comprehensions and patterns.

    Callers cut the answer with the columns in scope, so a local name costs an optimisation at most.
    """
    found: set[str] = set()
    _collect_variables(tree, found)
    return frozenset(found)


def _collect_variables(tree: Syntax, found: set[str]) -> None:
    match tree:
        case Variable(name):
            found.add(name)
            return
        case Literal():  # a list may hold a hundred thousand
            return
        case NodePattern() | RelationshipPattern() | PathPattern():
            if tree.variable is not None:
                found.add(tree.variable)
        case _:
            pass
    for below in children(tree):
        _collect_variables(below, found)


def any_tree(tree: Syntax, test: Callable[[Syntax], bool]) -> bool:
    """Whether ``test`` holds for the tree or one below it; not looked for within subqueries."""
    return test(tree) or any(any_tree(below, test) for below in children(tree) if not isinstance(below, Query))


def has_pattern(tree: Syntax) -> bool:
    """Whether evaluating the tree matches patterns or runs a subquery."""
    return any_tree(
        tree, lambda part: isinstance(part, PatternPredicate | PatternCount | PatternComprehension | Subquery)
    )


def is_stable(tree: Syntax) -> bool:
    """Whether evaluating the tree twice gives the same value."""
    if isinstance(tree, FunctionCall) and tree.name.lower() in _UNSTABLE:
        return False
    return all(is_stable(below) for below in children(tree))


def is_constant(tree: Syntax) -> bool:
    """Whether the value is the same for every row."""
    return not variables_of(tree) and not has_pattern(tree) and is_stable(tree)


def is_harmless(tree: Expression) -> bool:
    """Whether evaluating the predicate never fails, whatever the values: it may run for rows that nobody asked for."""
    match tree:
        case Comparison(first, rest):
            return all(is_plain(side) for side in (first, *(other for _, other in rest)))
        case Binary("AND" | "OR", left, right):
            return is_harmless(left) and is_harmless(right)
        case Binary("STARTS WITH" | "ENDS WITH" | "CONTAINS", left, right):
            return is_plain(left) and is_plain(right)
        case Unary("NOT", operand):
            return is_harmless(operand)
        case IsNull(operand):
            return is_plain(operand)
        case _:
            return False


def is_plain(tree: Expression) -> bool:
    """A value that is only read."""
    match tree:
        case Variable() | Literal() | Parameter():
            return True
        case Property(subject):
            return isinstance(subject, Variable)
        case _:
            return False


def few(predicates: Sequence[Expression]) -> Sequence[Expression]:
    """The predicates, or where they are very many, one for all that use the same variables: plans stay shallow."""
    if len(predicates) <= _MANY:
        return predicates
    together: dict[frozenset[str], list[Expression]] = {}
    for predicate in predicates:
        together.setdefault(variables_of(predicate), []).append(predicate)
    return [_all_of(parts) for parts in together.values()]


def _all_of(parts: Sequence[Expression]) -> Expression:
    """One AND, as flat as can be."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return Binary("AND", _all_of(parts[:middle]), _all_of(parts[middle:]), at=parts[0].at)


def conjuncts(predicate: Expression | None) -> list[Expression]:
    """The operands of the outermost ANDs, in order."""
    if predicate is None:
        return []
    if isinstance(predicate, Binary) and predicate.operator == "AND":
        return [*conjuncts(predicate.left), *conjuncts(predicate.right)]
    return [predicate]


Tree = TypeVar("Tree", bound=Syntax)


def rewrite(tree: Tree, change: Callable[[Syntax], Syntax | None]) -> Tree:
    """The tree with every part for which ``change`` answers replaced by the answer, from the top.

    Subqueries keep their clauses as they are: names and aggregates mean something else there.
    """
    return _rewrite(tree, change)  # pyright: ignore[reportReturnType]  callers replace expressions by expressions


def _rewrite(tree: Syntax, change: Callable[[Syntax], Syntax | None]) -> Syntax:
    answer = change(tree)
    if answer is not None:
        return answer
    changes: dict[str, object] = {}
    for name in type(tree).__match_args__:
        old: object = getattr(tree, name)
        new = _rewrite_value(old, change)
        if new is not old:
            changes[name] = new
    return replace(tree, **changes) if changes else tree


def _rewrite_value(value: object, change: Callable[[Syntax], Syntax | None]) -> object:
    if isinstance(value, Query):
        return value
    if isinstance(value, Syntax):
        return _rewrite(value, change)
    if isinstance(value, tuple):
        items: tuple[object, ...] = value  # pyright: ignore[reportUnknownVariableType]
        new = tuple(_rewrite_value(item, change) for item in items)
        if any(a is not b for a, b in zip(items, new, strict=True)):
            return new
    return value  # pyright: ignore[reportUnknownVariableType]


def substitute(tree: Expression, values: Mapping[str, Expression]) -> Expression:
    """The expression with variables replaced; local variables of comprehensions hide outer ones.

    Patterns name variables too and cannot hold expressions instead: see `can_substitute`.
    """

    def change(part: Syntax) -> Syntax | None:
        match part:
            case Variable(name):
                return values.get(name)
            case ListComprehension() | Quantifier():
                if part.variable in values:
                    inner = {name: value for name, value in values.items() if name != part.variable}
                    return replace(_inside(part, inner), source=substitute(part.source, values))
                return None
            case Reduce():
                if part.variable in values or part.accumulator in values:
                    hidden = {part.variable, part.accumulator}
                    inner = {name: value for name, value in values.items() if name not in hidden}
                    return Reduce(
                        part.accumulator,
                        substitute(part.start, values),
                        part.variable,
                        substitute(part.source, values),
                        substitute(part.step, inner),
                        at=part.at,
                    )
                return None
            case _:
                return None

    return rewrite(tree, change)


def _inside(part: ListComprehension | Quantifier, values: Mapping[str, Expression]) -> ListComprehension | Quantifier:
    where = None if part.where is None else substitute(part.where, values)
    if isinstance(part, Quantifier):
        return replace(part, where=where)
    return replace(
        part, where=where, projection=None if part.projection is None else substitute(part.projection, values)
    )


def can_substitute(tree: Expression, values: Mapping[str, Expression]) -> bool:
    """Whether `substitute` is exact: patterns may only name variables that stay as they are."""
    return not has_pattern(tree) or all(
        name not in values or values[name] == Variable(name) for name in variables_of(tree)
    )
