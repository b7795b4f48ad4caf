"""Expressions over all rows at once: the way from Bindings to a column.

`evaluate` is what operators call. Every expression becomes an operand (a constant or a column); where its operands are
typed a kernel works on whole columns, else execute/rows loops with the very functions execute/scalar is made of.
"""

import time
from collections.abc import Callable, Collection, Sequence
from typing import Final

from vaultgraph.cypher.execute.bindings import Bindings, BoundColumn
from vaultgraph.cypher.execute.calls import caller, failure, function_of, placed
from vaultgraph.cypher.execute.choices import evaluate_case, evaluate_coalesce, evaluate_logic
from vaultgraph.cypher.execute.context import Context, PatternRunner
from vaultgraph.cypher.execute.fetch import concat, nulls, slice_rows
from vaultgraph.cypher.execute.items import evaluate_items
from vaultgraph.cypher.execute.kernels import is_null_operand
from vaultgraph.cypher.execute.mixed import map_mixed
from vaultgraph.cypher.execute.operand import Constant, Operand
from vaultgraph.cypher.execute.rows import about_bytes, map_rows, to_column
from vaultgraph.cypher.execute.scalar import StrictExpression, compile_scalar, parameter_value, reduction, strict_form
from vaultgraph.cypher.execute.strict import strict_kernel
from vaultgraph.cypher.execute.variables import is_repeatable, variables_of
from vaultgraph.cypher.functions.record import Kernel
from vaultgraph.cypher.syntax import (
    Binary,
    Case,
    Comparison,
    CountStar,
    Expression,
    FunctionCall,
    ListComprehension,
    Literal,
    Parameter,
    PatternComprehension,
    PatternCount,
    PatternPredicate,
    Property,
    Quantifier,
    Reduce,
    Subquery,
    Unary,
    Variable,
)
from vaultgraph.cypher.values import Refusal
from vaultgraph.errors import BudgetError

__all__ = ["Context", "PatternRunner", "evaluate", "evaluate_constant"]

_MANY_ROWS: Final = 65_536
_MOST_ROWS: Final = 524_288
_SOME_LISTS: Final = 512
_SHORT_S: Final = 0.01
_LONG_S: Final = 0.04
_GROWTH: Final = 4


def evaluate(expression: Expression, bindings: Bindings, context: Context) -> BoundColumn:
    """The value of ``expression`` in every row: a column of ``bindings.height``.

    Without rows nothing is worked out, so nothing can fail.

    Raises:
        EvaluationError: a value of the wrong kind, an overflow, a division by zero, with the span of the part.
        BudgetError: the budget ran out.
    """
    if not bindings.height and not isinstance(expression, Variable):
        return nulls(0)
    if bindings.height > _MANY_ROWS and not isinstance(expression, Variable | Literal | Parameter):
        names = [name for name in variables_of(expression) if name in bindings.columns]
        if names and not (isinstance(expression, Property) and isinstance(expression.subject, Variable)):
            return _in_pieces(bindings, names, _MANY_ROWS, context, lambda rows: _whole(expression, rows, context))
    return _whole(expression, bindings, context)


def _whole(expression: Expression, bindings: Bindings, context: Context) -> BoundColumn:
    return to_column(_operand(expression, bindings, context), bindings.height)


def _in_pieces(
    bindings: Bindings, names: Collection[str], size: int, context: Context, work: Callable[[Bindings], BoundColumn]
) -> BoundColumn:
    """The column that ``work`` makes of all rows, ``size`` rows at first and then as many as go in a moment, so that
    the budget is looked at in between."""
    made: list[BoundColumn] = []
    start = total = 0
    while start < bindings.height:
        context.budget.check()
        began = time.perf_counter()
        stop = min(start + size, bindings.height)
        made.append(work(slice_rows(bindings, start, stop, names)))
        total += about_bytes(made[-1])
        context.budget.check(size=total)
        took = time.perf_counter() - began
        start = stop
        if took < _SHORT_S:
            size = min(size * _GROWTH, _MOST_ROWS)
        elif took > _LONG_S:
            size = max(1, size // 2)
    return concat(made) if len(made) > 1 else made[0]


def evaluate_constant(expression: Expression, context: Context) -> object:
    """The value of an expression without variables, such as that of LIMIT.

    Raises:
        EvaluationError: see `evaluate`.
    """
    return compile_scalar(expression, context)({})


def _operand(expression: Expression, bindings: Bindings, context: Context) -> Operand:
    try:
        return _dispatch(expression, bindings, context)
    except Refusal as refusal:
        raise failure(refusal, expression, context) from None
    except BudgetError as error:
        raise placed(error, expression.at, context) from None


def _dispatch(expression: Expression, bindings: Bindings, context: Context) -> Operand:
    match expression:
        case Literal(value):
            return Constant(value)
        case Parameter():
            return Constant(parameter_value(expression, context))
        case Variable(name):
            return bindings.columns[name]
        case Binary("AND" | "OR"):
            return evaluate_logic(expression, bindings, context, _operand)
        case Case() | ListComprehension() | Quantifier() | Reduce():
            return _compound(expression, bindings, context)
        case FunctionCall():
            return _call(expression, bindings, context)
        case PatternPredicate(patterns, where):
            return context.patterns.exists(patterns, where, bindings, context)
        case PatternCount(patterns, where):
            return context.patterns.count(patterns, where, bindings, context)
        case PatternComprehension(pattern, where, projection):
            return context.patterns.collect(pattern, where, projection, bindings, context)
        case Subquery():
            return context.patterns.subquery(expression, bindings, context)
        case CountStar():
            raise Refusal("count(*) only works where results are aggregated.")
        case _:
            apply, parts = strict_form(expression, context)
            operands = [_operand(part, bindings, context) for part in parts]
            values = _constants(operands)
            if values is not None:
                return Constant(apply(*values))
            return _strict(expression, apply, operands, bindings.height, context)


def _strict(
    expression: StrictExpression,
    apply: Callable[..., object],
    operands: Sequence[Operand],
    height: int,
    context: Context,
) -> BoundColumn:
    context.budget.check()

    def kernel(parts: Sequence[Operand], rows: int) -> BoundColumn | None:
        return strict_kernel(expression, parts, rows, context)

    column = kernel(operands, height)
    if column is not None:
        return column
    if isinstance(expression, Binary | Comparison | Unary | Property):
        return map_mixed(kernel, apply, operands, height, context.budget)
    return map_rows(apply, operands, height, context.budget)


def _constants(operands: Sequence[Operand]) -> list[object] | None:
    """The values of operands that are all constants."""
    values = [operand.value for operand in operands if isinstance(operand, Constant)]
    return values if len(values) == len(operands) else None


def _compound(
    expression: Case | ListComprehension | Quantifier | Reduce, bindings: Bindings, context: Context
) -> Operand:
    names = [name for name in variables_of(expression) if name in bindings.columns]
    if not names and is_repeatable(expression):
        return Constant(evaluate_constant(expression, context))
    match expression:
        case Case():
            return evaluate_case(expression, bindings, context, _operand)
        case Reduce():
            return _reduce(expression, bindings, context)
        case _ if bindings.height <= _SOME_LISTS or not names:
            return evaluate_items(expression, bindings, context, _operand)
        case _:
            return _in_pieces(
                bindings,
                names,
                _SOME_LISTS,
                context,
                lambda rows: evaluate_items(expression, rows, context, _operand),
            )


def _reduce(part: Reduce, bindings: Bindings, context: Context) -> Operand:
    """Sources and starts for all rows at once, the steps row by row."""
    names = [name for name in variables_of(part.step) if name in bindings.columns]
    ends = [_operand(one, bindings, context) for one in (part.source, part.start)]
    run = reduction(part, context)

    def apply(source: object, start: object, *cells: object) -> object:
        return run(source, start, dict(zip(names, cells, strict=True)))

    return map_rows(apply, [*ends, *(bindings.columns[name] for name in names)], bindings.height, context.budget)


def _call(expression: FunctionCall, bindings: Bindings, context: Context) -> Operand:
    function = function_of(expression, context)
    if function.name == "coalesce":
        return evaluate_coalesce(expression, bindings, context, _operand)
    operands = [_operand(argument, bindings, context) for argument in expression.arguments]
    call = caller(function, context)
    if not function.is_volatile:
        values = _constants(operands)
        if values is not None:
            return Constant(call(*values))
        if function.null_through and any(is_null_operand(operand) for operand in operands):
            return nulls(bindings.height)
        if function.kernel is not None:
            return _call_kernel(function.kernel, call, operands, bindings.height, context)
    return map_rows(call, operands, bindings.height, context.budget)


def _call_kernel(
    kernel: Kernel, call: Callable[..., object], operands: Sequence[Operand], height: int, context: Context
) -> BoundColumn:
    def part_kernel(parts: Sequence[Operand], _rows: int) -> BoundColumn | None:
        return kernel(parts, context)

    column = kernel(operands, context)
    return map_mixed(part_kernel, call, operands, height, context.budget) if column is None else column
