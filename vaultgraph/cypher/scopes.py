"""The names a clause or an expression can use, and what one run of binding shares.

A scope is never changed: a clause or a comprehension makes a new one. Hidden variables start with a space, which no
query can write. Made and read by cypher/bind, cypher/bind_expressions and cypher/bind_projections.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from vaultgraph.cypher.advice import listed, nearest, shortened
from vaultgraph.cypher.kinds import Kind
from vaultgraph.cypher.procedures import Procedure
from vaultgraph.cypher.syntax import Query, Span
from vaultgraph.errors import BindError
from vaultgraph.frozen import frozen

_MOST_WARNINGS: Final = 10


class Names(Protocol):
    """The names a graph has, for warnings; ``graph/schema`` gives it."""

    @property
    def labels(self) -> Collection[str]:
        """All node labels."""
        ...

    @property
    def relationship_types(self) -> Collection[str]:
        """All relationship types."""
        ...

    def property_keys(self, label: str | None, /) -> Collection[str]:
        """Keys that a node with the label has, or with None that any node has."""
        ...

    def relationship_property_keys(self, type_name: str | None, /) -> Collection[str]:
        """Keys that a relationship of the type has, or with None that any has."""
        ...


@frozen
class Scope:
    """``kinds`` by variable, in the order they came; ``no_aggregates`` says why aggregates are refused, or None.

    ``outer``: those of a query around this one, which stay known after WITH and RETURN and are never hidden.
    """

    kinds: Mapping[str, Kind] = field(default_factory=dict[str, Kind])
    no_aggregates: str | None = None
    outer: frozenset[str] = frozenset()

    def plus(self, kinds: Mapping[str, Kind]) -> "Scope":
        """With more variables; the new ones hide old ones of the same name."""
        return Scope({**self.kinds, **kinds}, self.no_aggregates, self.outer)

    def only(self, kinds: Mapping[str, Kind]) -> "Scope":
        """With other variables in place of its own; those from outside stay."""
        return Scope({**{name: self.kinds[name] for name in self.outer}, **kinds}, outer=self.outer)

    def without_aggregates(self, place: str) -> "Scope":
        """The same names where aggregates make no sense; ``place`` reads like "in WHERE"."""
        return Scope(self.kinds, self.no_aggregates or place, self.outer)

    @property
    def visible(self) -> tuple[str, ...]:
        """The variables a query can name."""
        return tuple(name for name in self.kinds if not name.startswith(" "))

    @property
    def starred(self) -> tuple[str, ...]:
        """The variables a star stands for."""
        return tuple(name for name in self.visible if name not in self.outer)


@dataclass(slots=True)
class Desk:
    """What one run of binding reads, and the warnings and hidden names it makes.

    ``gone``: names that are out of scope, with a sentence on why and how to keep them. ``procedures``: by name in lower
    case. ``bind_query`` binds a query within braces (see cypher/bind).
    """

    text: str
    names: Names | None
    parameters: Mapping[str, object]
    warnings: dict[str, None] = field(default_factory=dict[str, None])
    hidden: int = 0
    gone: dict[str, str] = field(default_factory=dict[str, str])
    procedures: Mapping[str, Procedure] = field(default_factory=dict[str, Procedure])
    bind_query: "BindQuery | None" = None

    def fresh(self, letter: str) -> str:
        """A hidden variable that is not used yet."""
        self.hidden += 1
        return f" {letter}{self.hidden}"

    def warn(self, message: str) -> None:
        """Keep a warning once, and no more than a reader takes in."""
        if len(self.warnings) < _MOST_WARNINGS:
            self.warnings[message] = None

    def error(self, reason: str, at: Span, suggestion: str | None = None) -> BindError:
        """An error at a span of the text."""
        return BindError(reason, self.text, *at, suggestion)

    def undefined(self, name: str, scope: Scope, at: Span) -> BindError:
        """The error for a variable that is not in scope."""
        if name in self.gone:
            return self.error(self.gone[name], at)
        visible = scope.visible
        near = nearest(name, visible)
        there = f" Known here: {listed(visible)}." if visible and near is None else ""
        return self.error(f"The variable '{shortened(name)}' is not defined.{there}", at, near)

    def missing_parameter(self, name: str, at: Span) -> BindError:
        """The error for a parameter that was not given."""
        if f"${name}" in self.parameters:
            return self.error(f"The parameter ${name} is missing: give it under the name {name}, without $.", at)
        near = nearest(name, self.parameters)
        given = f"given are {listed('$' + one for one in self.parameters)}" if self.parameters else "none are given"
        return self.error(f"The parameter ${name} is missing: {given}.", at, None if near is None else f"${near}")


BindQuery = Callable[
    [Query, Scope, Desk, Mapping[str, str], Scope | None],
    tuple[Query, dict[str, Kind]],
]
"""Takes a query, its scope, the names that are out of scope, and what an importing WITH may name."""
