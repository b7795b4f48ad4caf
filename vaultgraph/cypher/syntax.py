"""The syntax tree of a query: frozen values with the span of text they came from.

Made by cypher/clauses and cypher/expressions, checked and completed by cypher/bind, read by cypher/planner. Spans are
left out of equality, so that a printed and parsed query equals its original.
"""

from dataclasses import field
from typing import Literal as Choice

from vaultgraph.frozen import frozen

Span = tuple[int, int]  # 0-based half-open character offsets in the query text


@frozen
class Syntax:
    """Root of all tree values; ``at`` is the span in the query text."""

    at: Span = field(default=(0, 0), compare=False, kw_only=True)


# Expressions


@frozen
class Literal(Syntax):
    """null, a boolean, an integer, a float or a string."""

    value: bool | int | float | str | None


@frozen
class ListLiteral(Syntax):
    items: "tuple[Expression, ...]"


@frozen
class MapLiteral(Syntax):
    entries: "tuple[tuple[str, Expression], ...]"


@frozen
class Parameter(Syntax):
    name: str


@frozen
class Variable(Syntax):
    name: str


@frozen
class Property(Syntax):
    subject: "Expression"
    key: str


@frozen
class Index(Syntax):
    """``subject[index]`` of a list, map, node or relationship."""

    subject: "Expression"
    index: "Expression"


@frozen
class Slice(Syntax):
    subject: "Expression"
    start: "Expression | None"
    stop: "Expression | None"


@frozen
class Unary(Syntax):
    operator: Choice["NOT", "-", "+"]
    operand: "Expression"


BinaryOperator = Choice[
    "+", "-", "*", "/", "%", "^", "||", "AND", "OR", "XOR", "IN", "=~", "STARTS WITH", "ENDS WITH", "CONTAINS"
]
ComparisonOperator = Choice["=", "<>", "<", "<=", ">", ">="]


@frozen
class Binary(Syntax):
    operator: BinaryOperator
    left: "Expression"
    right: "Expression"


@frozen
class Comparison(Syntax):
    """``first op1 e1 op2 e2 …``: a chain means the conjunction of its neighbours."""

    first: "Expression"
    rest: "tuple[tuple[ComparisonOperator, Expression], ...]"


@frozen
class IsNull(Syntax):
    operand: "Expression"
    negated: bool


@frozen
class HasLabels(Syntax):
    """``n:A`` as a predicate of a node, or ``r:T`` of a relationship."""

    subject: "Expression"
    labels: "LabelExpression"


@frozen
class FunctionCall(Syntax):
    """``name`` is as written (with dots); functions are looked up case-insensitively. Aggregates are calls too."""

    name: str
    arguments: "tuple[Expression, ...]"
    distinct: bool = False


@frozen
class CountStar(Syntax):
    pass


@frozen
class Case(Syntax):
    """Simple where ``subject`` is given, else searched; ``default`` None stands for null."""

    subject: "Expression | None"
    branches: "tuple[tuple[Expression, Expression], ...]"
    default: "Expression | None"


@frozen
class ListComprehension(Syntax):
    variable: str
    source: "Expression"
    where: "Expression | None"
    projection: "Expression | None"


@frozen
class Quantifier(Syntax):
    kind: Choice["all", "any", "none", "single"]
    variable: str
    source: "Expression"
    where: "Expression"


@frozen
class Reduce(Syntax):
    accumulator: str
    start: "Expression"
    variable: str
    source: "Expression"
    step: "Expression"


@frozen
class PatternPredicate(Syntax):
    """A path pattern used as a boolean, or ``EXISTS { pattern WHERE … }``.

    ``bare`` marks the first form, where every variable must be known already; it means nothing after binding.
    """

    patterns: "tuple[PathPattern, ...]"
    where: "Expression | None" = None
    bare: bool = field(default=False, compare=False, kw_only=True)


@frozen
class PatternCount(Syntax):
    """``COUNT { pattern WHERE … }``."""

    patterns: "tuple[PathPattern, ...]"
    where: "Expression | None" = None


@frozen
class PatternComprehension(Syntax):
    """``[p = (a)-->(b) WHERE … | projection]``."""

    pattern: "PathPattern"
    where: "Expression | None"
    projection: "Expression"


@frozen
class Subquery(Syntax):
    """``EXISTS { … }``, ``COUNT { … }`` and ``COLLECT { … }`` of whole clauses; plain patterns are forms of their own.

    ``columns``: what the query answers, filled in by binding; that of a collected one is its only one.
    """

    kind: Choice["exists", "count", "collect"]
    query: "Query"
    columns: tuple[str, ...] = field(default=(), compare=False, kw_only=True)


@frozen
class MapProjection(Syntax):
    """``n {.a, .*, key: expression, other}``: entries are (key, expression), ``everything`` is ``.*``."""

    subject: "Expression"
    entries: "tuple[tuple[str, Expression], ...]"
    everything: bool


Expression = (
    Literal | ListLiteral | MapLiteral | Parameter | Variable | Property | Index | Slice | Unary | Binary
    | Comparison | IsNull | HasLabels | FunctionCall | CountStar | Case | ListComprehension | Quantifier
    | Reduce | PatternPredicate | PatternCount | PatternComprehension | Subquery | MapProjection
)  # fmt: skip


# Patterns


@frozen
class LabelName(Syntax):
    name: str


@frozen
class LabelAnd(Syntax):
    """``A:B`` and ``A&B``."""

    parts: "tuple[LabelExpression, ...]"


@frozen
class LabelOr(Syntax):
    parts: "tuple[LabelExpression, ...]"


@frozen
class LabelNot(Syntax):
    part: "LabelExpression"


@frozen
class LabelAny(Syntax):
    """``%``: at least one label."""


LabelExpression = LabelName | LabelAnd | LabelOr | LabelNot | LabelAny


@frozen
class NodePattern(Syntax):
    """After binding ``variable`` is never None; hidden names start with a space."""

    variable: str | None
    labels: LabelExpression | None = None
    properties: MapLiteral | Parameter | None = None
    where: Expression | None = None


@frozen
class RelationshipPattern(Syntax):
    """``length`` is None for one hop, else (least, most); most None is unbounded. Types empty: any type.

    ``type_expression`` is what cannot be said by ``types``, such as ``!A``; binding makes it a condition.
    """

    variable: str | None
    types: tuple[str, ...]
    direction: Choice["out", "in", "both"]
    length: tuple[int, int | None] | None = None
    properties: MapLiteral | Parameter | None = None
    where: Expression | None = None
    type_expression: LabelExpression | None = None


@frozen
class PathPattern(Syntax):
    """``nodes`` has one more than ``relationships``; they alternate. ``shortest``: shortestPath / allShortestPaths."""

    variable: str | None
    nodes: tuple[NodePattern, ...]
    relationships: tuple[RelationshipPattern, ...]
    shortest: Choice["one", "all"] | None = None


# Clauses


@frozen
class Match(Syntax):
    patterns: tuple[PathPattern, ...]
    where: Expression | None
    optional: bool


@frozen
class Unwind(Syntax):
    source: Expression
    variable: str


@frozen
class ProjectionItem(Syntax):
    """``name`` is the alias, or the text as written where there is none (``aliased`` False)."""

    expression: Expression
    name: str
    aliased: bool


@frozen
class OrderItem(Syntax):
    expression: Expression
    descending: bool


@frozen
class Projection(Syntax):
    """The common part of WITH and RETURN. ``star`` is False after binding: the items are then spelled out."""

    items: tuple[ProjectionItem, ...]
    star: bool
    distinct: bool
    order: tuple[OrderItem, ...]
    skip: Expression | None
    limit: Expression | None


@frozen
class With(Syntax):
    projection: Projection
    where: Expression | None


@frozen
class Return(Syntax):
    projection: Projection


@frozen
class CallProcedure(Syntax):
    """``yields`` are (result column, variable); None stands for no YIELD part, ``star`` for ``YIELD *``."""

    name: str
    arguments: tuple[Expression, ...] | None
    yields: tuple[tuple[str, str], ...] | None
    star: bool
    where: Expression | None


@frozen
class CallSubquery(Syntax):
    """``CALL { … }`` and ``CALL (a, b) { … }``, whose ``imports`` are None for the first form; ``star``: ``CALL (*)``.

    After binding ``imports`` are the outer variables that are read, ``columns`` those the query adds, and
    ``is_scoped`` says that imports stay known after a WITH. Without columns it keeps the rows as they are.
    """

    query: "Query"
    imports: tuple[str, ...] | None
    star: bool
    optional: bool
    columns: tuple[str, ...] = field(default=(), compare=False, kw_only=True)
    is_scoped: bool = field(default=False, compare=False, kw_only=True)


@frozen
class Finish(Syntax):
    """``FINISH``: the query answers nothing."""


Clause = Match | Unwind | With | Return | Finish | CallProcedure | CallSubquery


@frozen
class SingleQuery(Syntax):
    clauses: tuple[Clause, ...]


@frozen
class Query(Syntax):
    """Parts joined by UNION; ``union_all[i]`` says how part i + 1 is joined. All parts have the same columns."""

    parts: tuple[SingleQuery, ...]
    union_all: tuple[bool, ...] = ()
    mode: Choice["run", "explain", "profile"] = "run"
    csv: bool = False
