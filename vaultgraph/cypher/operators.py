"""The plan of a query: one tree of frozen operators.

Made by cypher/planner, rewritten by cypher/rules, run by execute/run. Names in operators are columns of Bindings;
hidden columns start with a space. There is no second, physical tree: another way to run something is another operator,
chosen by a rule.
"""

from dataclasses import field
from typing import Literal as Choice

from vaultgraph.cypher.syntax import CountStar, Expression, FunctionCall, LabelExpression, Span
from vaultgraph.frozen import frozen

Direction = Choice["out", "in", "both"]
SoughtBy = Choice["=", "IN", "<", "<=", ">", ">=", "STARTS WITH"]
Items = tuple[tuple[str, Expression], ...]
Keys = tuple[tuple[Expression, bool], ...]  # (expression, descending)


@frozen
class Start:
    """One row without columns."""


@frozen
class Argument:
    """The rows handed in from outside: of the operator above, or of an expression with a pattern."""

    variables: tuple[str, ...]


@frozen
class ScanNodes:
    """All nodes, or those whose labels satisfy ``labels``, in id order."""

    variable: str
    labels: LabelExpression | None


@frozen
class SeekNodes:
    """The nodes whose property ``key`` equals ``value``, or one of its items where ``many``; ``value`` is constant."""

    variable: str
    labels: LabelExpression | None
    key: str
    value: Expression
    many: bool


@frozen
class Sought:
    """A demand on the property ``key``, with a constant ``value``; a part of ``predicate`` or all of it."""

    key: str
    by: SoughtBy
    value: Expression
    predicate: Expression


@frozen
class SeekIndex:
    """The nodes that satisfy the predicates of all of ``sought``, through sorted indexes of their properties."""

    variable: str
    labels: LabelExpression | None
    sought: tuple[Sought, ...]


@frozen
class CountNodes:
    """One row: how many nodes satisfy ``labels``."""

    column: str
    labels: LabelExpression | None


@frozen
class Expand:
    """One hop from ``source``. ``is_bound``: ``target`` is a column already and only hops that end there are kept.

    ``types`` empty: any. ``labels`` restrict a new target. ``unlike``: relationship or trail columns that the hop must
    not repeat. ``relationship`` is None where nothing above needs it.
    """

    input: "Plan"
    source: str
    relationship: str | None
    target: str
    types: tuple[str, ...]
    direction: Direction
    labels: LabelExpression | None = None
    is_bound: bool = False
    unlike: tuple[str, ...] = ()
    at: Span = field(default=(0, 0), compare=False, repr=False)


@frozen
class ExpandBound:
    """The ends of a relationship that is a column already, in the directions that fit; null fits nothing."""

    input: "Plan"
    source: str
    relationship: str
    target: str
    types: tuple[str, ...]
    direction: Direction
    source_is_bound: bool
    target_is_bound: bool
    at: Span = field(default=(0, 0), compare=False, repr=False)


@frozen
class Trails:
    """What ExpandVariable and ShortestPaths share: which hops make a trail.

    ``most`` None: bounded by no relationship repeating. ``each`` is a predicate of one hop, held in column ``hop``.
    ``column`` gets the relationship ids of a trail as a list of Int64, ``relationships`` the same as public values;
    both are None where nothing above needs them.
    """

    types: tuple[str, ...]
    direction: Direction
    least: int
    most: int | None
    hop: str
    each: Expression | None
    column: str | None
    relationships: str | None
    is_reversed: bool = False
    at: Span = field(default=(0, 0), compare=False, repr=False)


@frozen
class ExpandVariable:
    """All trails from ``source``; the fields mean what they mean in Expand."""

    input: "Plan"
    source: str
    target: str
    trails: Trails
    labels: LabelExpression | None = None
    is_bound: bool = False
    unlike: tuple[str, ...] = ()


@frozen
class Reach:
    """The nodes that ExpandVariable would find, each once a row."""

    input: "Plan"
    source: str
    target: str
    trails: Trails
    labels: LabelExpression | None = None
    is_bound: bool = False
    unlike: tuple[str, ...] = ()


@frozen
class ShortestPaths:
    """One shortest trail (or ``every`` one of the least length) between two columns of nodes."""

    input: "Plan"
    source: str
    target: str
    trails: Trails
    every: bool


@frozen
class Degree:
    """Column ``column``: how many rows Expand would make of each row. Rows of which it would make none are dropped.

    ``where``: a name for the far node and a predicate of it alone; only hops to nodes where it is true count.
    """

    input: "Plan"
    source: str
    types: tuple[str, ...]
    direction: Direction
    column: str
    labels: LabelExpression | None = None
    unlike: tuple[str, ...] = ()
    where: tuple[str, Expression] | None = None


@frozen
class Tally:
    """One row for each node that Expand would reach: ``target``, and in ``column`` how many rows lead there.

    A row of the input counts ``weight`` times, once where that is None. No other column is kept.
    """

    input: "Plan"
    source: str
    target: str
    types: tuple[str, ...]
    direction: Direction
    column: str
    weight: Expression | None = None
    labels: LabelExpression | None = None
    at: Span = field(default=(0, 0), compare=False, repr=False)


@frozen
class BuildPath:
    """Column ``path`` from its first node and its steps: (column, whether it is a trail column)."""

    input: "Plan"
    path: str
    first: str
    steps: tuple[tuple[str, bool], ...]


@frozen
class Filter:
    """The rows where ``predicate`` is true."""

    input: "Plan"
    predicate: Expression


@frozen
class Extend:
    """The columns of the input and ``items`` beside them."""

    input: "Plan"
    items: Items


@frozen
class Project:
    """Only the columns ``items``."""

    input: "Plan"
    items: Items


@frozen
class Keep:
    """Only the columns ``names``, as they are."""

    input: "Plan"
    names: tuple[str, ...]


@frozen
class Aggregate:
    """One row for each distinct value of ``keys`` (one row in all without keys); ``calls`` are aggregates only."""

    input: "Plan"
    keys: Items
    calls: tuple[tuple[str, FunctionCall | CountStar], ...]


@frozen
class Distinct:
    """The first of equal rows."""

    input: "Plan"


@frozen
class Sort:
    """Rows ordered by ``keys``; equal rows stay in order."""

    input: "Plan"
    keys: Keys


@frozen
class TopK:
    """Rows ``skip`` … ``skip + limit - 1`` of the order by ``keys``."""

    input: "Plan"
    keys: Keys
    skip: Expression | None
    limit: Expression


@frozen
class Skip:
    """All rows but the first ``count``."""

    input: "Plan"
    count: Expression


@frozen
class Limit:
    """The first ``count`` rows."""

    input: "Plan"
    count: Expression


@frozen
class LimitPieces:
    """Limit that runs ``pipeline`` over growing pieces of ``input`` until it has enough rows.

    The leaf of ``pipeline`` is an Argument that stands for a piece.
    """

    input: "Plan"
    pipeline: "Plan"
    count: Expression


@frozen
class Unwind:
    """A row for each item of the list ``source``."""

    input: "Plan"
    source: Expression
    variable: str


@frozen
class Optional:
    """The rows ``inner`` makes of each row; one row with nulls in ``introduced`` where it makes none.

    ``inner`` starts at an Argument that also has the column ``row``.
    """

    input: "Plan"
    inner: "Plan"
    introduced: tuple[str, ...]
    row: str


@frozen
class Apply:
    """The rows a subquery makes of each row, with ``introduced`` beside it, in the order of the rows.

    ``inner`` is run once for all rows: it starts at an Argument that also has the column ``row``, and keeps it. With
    kind "unit" it makes no rows and the input stays as it is.
    """

    input: "Plan"
    inner: "Plan"
    introduced: tuple[str, ...]
    row: str
    kind: Choice["rows", "unit"] = "rows"


@frozen
class LimitEach:
    """Within a subquery: of the rows with the same number in ``row`` those after ``skip``, at most ``limit``."""

    input: "Plan"
    row: str
    skip: Expression | None
    limit: Expression | None


@frozen
class EmptyGroups:
    """Within a subquery: for each row of its Argument without a row, ``carried`` and what ``calls`` give of no rows."""

    input: "Plan"
    row: str
    carried: tuple[str, ...]
    calls: tuple[tuple[str, FunctionCall | CountStar], ...]


@frozen
class Join:
    """Every pair of rows, or only those with equal, non-null values of the expression pairs ``equal``."""

    left: "Plan"
    right: "Plan"
    equal: tuple[tuple[Expression, Expression], ...] = ()


@frozen
class Union:
    """The rows of all parts, which have the same columns."""

    parts: "tuple[Plan, ...]"
    columns: tuple[str, ...]


@frozen
class CallProcedure:
    """For each row the rows of a procedure; ``yields`` are (result column, variable)."""

    input: "Plan"
    name: str
    arguments: tuple[Expression, ...]
    yields: tuple[tuple[str, str], ...]


Plan = (
    Start | Argument | ScanNodes | SeekNodes | SeekIndex | CountNodes | Expand | ExpandBound | ExpandVariable
    | Reach | ShortestPaths | Degree | Tally | BuildPath | Filter | Extend | Project | Keep | Aggregate | Distinct
    | Sort | TopK | Skip | Limit | LimitPieces | Unwind | Optional | Apply | LimitEach | EmptyGroups | Join
    | Union | CallProcedure
)  # fmt: skip
