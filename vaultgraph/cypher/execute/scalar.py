"""Expressions on one row: compiled once into a function of a scope, then called as often as needed.

The exact twin of execute/evaluate, value by value: what a reduce and other inherently sequential work run on, and the
reference the column path is tested against.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import assert_never

from vaultgraph.cypher.execute.bindings import Bindings
from vaultgraph.cypher.execute.calls import caller, failure, function_of
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.fetch import column_values, from_values
from vaultgraph.cypher.execute.properties import has_labels
from vaultgraph.cypher.execute.rows import bytes_of, watched
from vaultgraph.cypher.execute.variables import variables_of
from vaultgraph.cypher.incoming import engine_value
from vaultgraph.cypher.syntax import (
    Binary,
    Case,
    Comparison,
    CountStar,
    Expression,
    FunctionCall,
    HasLabels,
    Index,
    IsNull,
    ListComprehension,
    ListLiteral,
    Literal,
    MapLiteral,
    MapProjection,
    Parameter,
    PatternComprehension,
    PatternCount,
    PatternPredicate,
    Property,
    Quantifier,
    Reduce,
    Slice,
    Subquery,
    Unary,
    Variable,
)
from vaultgraph.cypher.value_operators import (
    BINARY,
    MOST_INTEGER,
    UNARY,
    conjunction,
    item_of,
    labels_or_type,
    map_of,
    property_of,
    slice_of,
    truth,
)
from vaultgraph.cypher.values import (
    NodeRef,
    Refusal,
    RelationshipRef,
    compare,
    equals,
    is_list,
    type_name,
)
from vaultgraph.errors import EvaluationError

Scope = Mapping[str, object]
Compiled = Callable[[Scope], object]


def compile_scalar(expression: Expression, context: Context) -> Compiled:
    """A function from a scope (the value of every variable read) to the value of ``expression``.

    It raises EvaluationError with the span of the part at fault.
    """
    run = _compile(expression, context)

    def guarded(scope: Scope) -> object:
        try:
            return run(scope)
        except Refusal as refusal:
            raise failure(refusal, expression, context) from None

    return guarded


def parameter_value(parameter: Parameter, context: Context) -> object:
    """The value given for a parameter.

    Raises:
        EvaluationError: none was given, or it holds what no query value can be.
    """
    if parameter.name not in context.parameters:
        raise EvaluationError(f"The parameter ${parameter.name} was not given.", context.text, *parameter.at)
    try:
        return engine_value(context.parameters[parameter.name])
    except Refusal as refusal:
        raise EvaluationError(f"The parameter ${parameter.name}: {refusal}", context.text, *parameter.at) from None
    except RecursionError:
        reason = f"The parameter ${parameter.name} is nested too deep, or holds itself."
        raise EvaluationError(reason, context.text, *parameter.at) from None


def slice_bounds(part: Slice) -> tuple[Expression, Expression]:
    """Start and stop of a slice; an open side reaches to the end."""
    return part.start or Literal(0), part.stop or Literal(MOST_INTEGER)


def map_value(keys: tuple[str, ...], *cells: object) -> dict[str, object]:
    """The map of a MapLiteral."""
    return dict(zip(keys, cells, strict=True))


def null_test(value: object, *, negated: bool) -> bool:
    """``IS NULL``, or ``IS NOT NULL`` where ``negated``."""
    return (value is not None) is negated


def labels_test(subject: object, part: HasLabels, context: Context) -> bool | None:
    """``subject:Label``; null of null."""
    if subject is None:
        return None
    if not isinstance(subject, NodeRef | RelationshipRef):
        raise Refusal(f"A label test needs a node or relationship, not {type_name(subject)}.")
    return has_labels(labels_or_type(subject, context.graph), part.labels)


def projected(part: MapProjection, context: Context, subject: object, *cells: object) -> dict[str, object] | None:
    """The map of a MapProjection; null of null."""
    cells_by_key = {key: cell for (key, _), cell in zip(part.entries, cells, strict=True)}
    if subject is None:
        return None
    if not part.everything and isinstance(subject, NodeRef | RelationshipRef):
        return cells_by_key
    whole = map_of(subject, context.graph, "A map projection")
    return {**(whole or {}), **cells_by_key} if part.everything else cells_by_key


def chained(part: Comparison, *cells: object) -> bool | None:
    """The conjunction of a comparison's neighbours."""
    result: bool | None = True
    for place, (operator, _) in enumerate(part.rest):
        result = conjunction(result, compare(operator, cells[place], cells[place + 1]))
    return result


def quantified(kind: str, trues: int, falses: int, unknowns: int) -> bool | None:
    """The answer of ``all``, ``any``, ``none`` or ``single`` from how often the condition was true, false and null."""
    match kind:
        case "all":
            return False if falses else (None if unknowns else True)
        case "any":
            return True if trues else (None if unknowns else False)
        case "none":
            return False if trues else (None if unknowns else True)
        case _:
            return False if trues > 1 else (None if unknowns else trues == 1)


def _compile(expression: Expression, context: Context) -> Compiled:
    match expression:
        case Literal(value):
            return lambda _: value
        case Parameter():
            value = parameter_value(expression, context)
            return lambda _: value
        case Variable(name):
            return lambda scope: scope[name]
        case Binary("AND" | "OR" as operator, left, right):
            return _compile_logic(operator, compile_scalar(left, context), compile_scalar(right, context))
        case Case():
            return _compile_case(expression, context)
        case FunctionCall():
            return _compile_call(expression, context)
        case ListComprehension() | Quantifier():
            return _compile_items(expression, context)
        case Reduce():
            return _compile_reduce(expression, context)
        case PatternPredicate() | PatternCount() | PatternComprehension() | Subquery():
            return _compile_pattern(expression, context)
        case CountStar():
            raise Refusal("count(*) only works where results are aggregated.")
        case _:
            apply, parts = strict_form(expression, context)
            compiled = tuple(compile_scalar(part, context) for part in parts)
            return lambda scope: apply(*[one(scope) for one in compiled])


StrictExpression = (
    ListLiteral
    | MapLiteral
    | Property
    | Index
    | Slice
    | Unary
    | Binary
    | Comparison
    | IsNull
    | HasLabels
    | MapProjection
)


def strict_form(expression: StrictExpression, context: Context) -> tuple[Callable[..., object], tuple[Expression, ...]]:
    """An expression that always reads all its parts, as a function of their values, and the parts."""
    graph = context.graph
    match expression:
        case ListLiteral(items):
            return lambda *cells: list(cells), items
        case MapLiteral(entries):
            keys = tuple(key for key, _ in entries)
            return lambda *cells: map_value(keys, *cells), tuple(part for _, part in entries)
        case Property(subject, key):
            return partial(property_of, key=key, graph=graph), (subject,)
        case Index(subject, index):
            return partial(item_of, graph=graph), (subject, index)
        case Slice(subject):
            return slice_of, (subject, *slice_bounds(expression))
        case Unary(operator, operand):
            return UNARY[operator], (operand,)
        case Binary(operator, left, right):
            return BINARY[operator], (left, right)
        case Comparison(first, rest):
            return lambda *cells: chained(expression, *cells), (first, *(part for _, part in rest))
        case IsNull(operand, negated):
            return partial(null_test, negated=negated), (operand,)
        case HasLabels(subject):
            return partial(labels_test, part=expression, context=context), (subject,)
        case MapProjection(subject, entries):
            parts = (subject, *(part for _, part in entries))
            return lambda *cells: projected(expression, context, *cells), parts
        case _:
            assert_never(expression)


def _compile_logic(operator: str, left: Compiled, right: Compiled) -> Compiled:
    decided = operator == "OR"
    combine = BINARY[operator]

    def run(scope: Scope) -> object:
        first = truth(left(scope), operator)
        return first if first is decided else combine(first, right(scope))

    return run


def _compile_case(part: Case, context: Context) -> Compiled:
    subject = compile_scalar(part.subject, context) if part.subject is not None else None
    branches = [(compile_scalar(when, context), compile_scalar(then, context)) for when, then in part.branches]
    default = compile_scalar(part.default or Literal(None), context)

    def run(scope: Scope) -> object:
        value = subject(scope) if subject is not None else None
        for when, then in branches:
            found = when(scope)
            if (truth(found, "CASE WHEN") if subject is None else equals(value, found)) is True:
                return then(scope)
        return default(scope)

    return run


def _compile_call(part: FunctionCall, context: Context) -> Compiled:
    found = function_of(part, context)
    arguments = [compile_scalar(one, context) for one in part.arguments]
    if found.name == "coalesce":
        return lambda scope: next((value for one in arguments if (value := one(scope)) is not None), None)
    call = caller(found, context)
    return lambda scope: call(*[one(scope) for one in arguments])


def _list_of(value: object, purpose: str) -> list[object] | None:
    if value is None or is_list(value):
        return value
    raise Refusal(f"{purpose} needs a list, not {type_name(value)}.")


def _compile_items(part: ListComprehension | Quantifier, context: Context) -> Compiled:
    source = compile_scalar(part.source, context)
    where = compile_scalar(part.where or Literal(value=True), context)
    purpose = "A list comprehension" if isinstance(part, ListComprehension) else f"{part.kind}()"
    projection = None
    if isinstance(part, ListComprehension):
        projection = compile_scalar(part.projection or Variable(part.variable), context)

    def run(scope: Scope) -> object:
        items = _list_of(source(scope), purpose)
        if items is None:
            return None
        inner = dict(scope)
        made: list[object] = []
        counts = {True: 0, False: 0, None: 0}
        size = 0
        # row loop: the items of one list
        for item in watched(items, context.budget):
            inner[part.variable] = item
            answer = truth(where(inner), "WHERE")
            counts[answer] += 1
            if answer and projection is not None:
                made.append(value := projection(inner))
                size += bytes_of(value)
                if size > context.budget.most_bytes:
                    context.budget.check(size=size)
        if projection is not None:
            return made
        kind = part.kind if isinstance(part, Quantifier) else "all"
        return quantified(kind, counts[True], counts[False], counts[None])

    return run


def reduction(part: Reduce, context: Context) -> Callable[[object, object, Scope], object]:
    """A function from the source list, the start value and the scope of a reduce to its result."""
    step = compile_scalar(part.step, context)
    name, item_name = part.accumulator, part.variable

    def run(source: object, start: object, scope: Scope) -> object:
        items = _list_of(source, "reduce()")
        if items is None:
            return None
        inner = {**scope, name: start}
        for item in watched(items, context.budget):
            inner[item_name] = item
            inner[name] = step(inner)
        return inner[name]

    return run


def _compile_reduce(part: Reduce, context: Context) -> Compiled:
    source, start = compile_scalar(part.source, context), compile_scalar(part.start, context)
    run = reduction(part, context)
    return lambda scope: run(source(scope), start(scope), scope)


def _compile_pattern(
    part: PatternPredicate | PatternCount | PatternComprehension | Subquery, context: Context
) -> Compiled:
    names = variables_of(part)

    def run(scope: Scope) -> object:
        known = {name: from_values([scope[name]]) for name in names if name in scope}
        bindings = Bindings(1, known)
        match part:
            case PatternPredicate(patterns, where):
                return column_values(context.patterns.exists(patterns, where, bindings, context))[0]
            case PatternCount(patterns, where):
                return column_values(context.patterns.count(patterns, where, bindings, context))[0]
            case PatternComprehension(pattern, where, projection):
                found = context.patterns.collect(pattern, where, projection, bindings, context)
                return column_values(found)[0]
            case Subquery():
                return column_values(context.patterns.subquery(part, bindings, context))[0]

    return run
