"""Calling a function: checking the types of its arguments, running it on values, turning refusals into errors.

Shared by the column path and the row path, so that both say the same.
"""

from collections.abc import Callable

from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.functions.record import Function
from vaultgraph.cypher.functions.registry import find
from vaultgraph.cypher.syntax import FunctionCall, Span, Syntax
from vaultgraph.cypher.values import Refusal, type_name
from vaultgraph.errors import EvaluationError, QueryError


def failure(refusal: Refusal, part: Syntax, context: Context) -> EvaluationError:
    """The error for a refusal met while working on ``part`` of the query."""
    return EvaluationError(str(refusal), context.text, *part.at)


def placed(error: QueryError, at: Span, context: Context) -> QueryError:
    """The same error at its place in the query, where it has one and it matters."""
    if error.text or at == (0, 0) or context.budget.cancelled.is_set():
        return error
    return type(error)(error.reason, context.text, *at, error.suggestion)


def function_of(call: FunctionCall, context: Context) -> Function:
    """The function that is called.

    Raises:
        EvaluationError: there is none, or the number of arguments is wrong (binding tells both earlier and better).
    """
    found = find(call.name)
    if found is None:
        raise EvaluationError(f"There is no function {call.name}.", context.text, *call.at)
    if len(call.arguments) < found.least or (found.most is not None and len(call.arguments) > found.most):
        raise EvaluationError(f"Wrong number of arguments: {found.signature}.", context.text, *call.at)
    return found


def caller(function: Function, context: Context) -> Callable[..., object]:
    """What calls ``function`` with engine values, checking their types; it raises Refusal."""
    parameters = function.parameters
    run = function.implementation

    def call(*arguments: object) -> object:
        if function.null_through and None in arguments:
            return None
        for position, argument in enumerate(arguments):
            parameter = parameters[min(position, len(parameters) - 1)]
            if parameter.types and argument is not None and type_name(argument) not in parameter.types:
                raise Refusal(
                    f"{function.name}() needs {_alternatives(parameter.types)} as argument {position + 1} "
                    f"({parameter.name}), not {type_name(argument)}."
                )
        return run(context, *arguments) if function.takes_context else run(*arguments)

    return call


def _alternatives(types: frozenset[str]) -> str:
    *first, last = sorted(types)
    return f"{', '.join(first)} or {last}" if first else last
