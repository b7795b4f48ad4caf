"""Which variables an expression reads: what must be carried when rows are chosen or repeated for it."""

from dataclasses import fields, is_dataclass

from vaultgraph.cypher.functions.registry import find
from vaultgraph.cypher.syntax import (
    FunctionCall,
    NodePattern,
    PathPattern,
    PatternComprehension,
    PatternCount,
    PatternPredicate,
    RelationshipPattern,
    Subquery,
    Variable,
)


def variables_of(*parts: object) -> set[str]:
    """The names of all variables read anywhere in expressions and patterns (None is skipped).

    Names that a comprehension or pattern brings itself are among them: harmless, for callers pick existing columns.
    """
    found: set[str] = set()
    for part in parts:
        _add(part, found)
    return found


def _add(part: object, found: set[str]) -> None:
    if isinstance(part, tuple):
        for one in part:  # pyright: ignore[reportUnknownVariableType]
            _add(one, found)  # pyright: ignore[reportUnknownArgumentType]
        return
    if isinstance(part, Variable):
        found.add(part.name)
    elif is_dataclass(part):
        if isinstance(part, NodePattern | RelationshipPattern | PathPattern) and part.variable is not None:
            found.add(part.variable)
        for one in fields(part):
            _add(getattr(part, one.name), found)


def is_repeatable(part: object) -> bool:
    """Whether an expression without columns has the same value in every row: no chance, no patterns."""
    if isinstance(part, tuple):
        return all(is_repeatable(one) for one in part)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(part, PatternPredicate | PatternCount | PatternComprehension | Subquery):
        return False
    if isinstance(part, FunctionCall) and (found := find(part.name)) is not None and found.is_volatile:
        return False
    return all(is_repeatable(getattr(part, one.name)) for one in fields(part)) if is_dataclass(part) else True
