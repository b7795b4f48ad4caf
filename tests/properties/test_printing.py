"""Printing a query and reading it again gives the same tree, for any tree."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vaultgraph.cypher.clauses import parse
from vaultgraph.cypher.printer import print_expression, print_query
from vaultgraph.cypher.syntax import (
    Binary,
    CallProcedure,
    CallSubquery,
    Case,
    Comparison,
    CountStar,
    Finish,
    FunctionCall,
    HasLabels,
    Index,
    IsNull,
    LabelAnd,
    LabelAny,
    LabelName,
    LabelNot,
    LabelOr,
    ListComprehension,
    ListLiteral,
    Literal,
    MapLiteral,
    MapProjection,
    Match,
    NodePattern,
    OrderItem,
    Parameter,
    PathPattern,
    PatternComprehension,
    PatternCount,
    PatternPredicate,
    Projection,
    ProjectionItem,
    Property,
    Quantifier,
    Query,
    Reduce,
    RelationshipPattern,
    Return,
    SingleQuery,
    Slice,
    Subquery,
    Unary,
    Unwind,
    Variable,
    With,
)

NAMES = st.sampled_from(["n", "_x1", "日本", "Ünïcode", "order", "match", "count", "all", "a b", "tick`s", "🎉", "in"])
LITERALS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
BINARY = st.sampled_from(
    ["+", "-", "*", "/", "%", "^", "||", "AND", "OR", "XOR", "IN", "=~", "STARTS WITH", "ENDS WITH", "CONTAINS"]
)
COMPARED = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
FORMS = st.integers(0, 20)
SMALL = st.integers(0, 2)
COIN = st.booleans()


class Maker:
    """Makes trees of bounded height; every choice is drawn, so that a failure shrinks."""

    def __init__(self, draw) -> None:
        self.draw = draw

    def name(self) -> str:
        return self.draw(NAMES)

    def several(self, make, least=0):
        return tuple(make() for _ in range(least + self.draw(SMALL)))

    def maybe(self, make):
        return make() if self.draw(COIN) else None

    def atom(self):
        match self.draw(st.integers(0, 3)):
            case 0:
                return Literal(self.draw(LITERALS))
            case 1:
                return Parameter(self.draw(st.sampled_from(["p", "0", "odd name"])))
            case 2:
                return CountStar()
            case _:
                return Variable(self.name())

    def expression(self, height: int):
        if height == 0:
            return self.atom()

        def inner():
            return self.expression(height - 1)

        def entry():
            return self.name(), inner()

        form = self.draw(FORMS)
        return self.operation(form, inner, entry) if form < 10 else self.form(form, inner, entry, height)

    def operation(self, form: int, inner, entry):
        match form:
            case 0:
                return ListLiteral(self.several(inner))
            case 1:
                return MapLiteral(self.several(entry))
            case 2:
                return Property(inner(), self.name())
            case 3:
                return Index(inner(), inner())
            case 4:
                return Slice(inner(), self.maybe(inner), self.maybe(inner))
            case 5:
                return Unary(self.draw(st.sampled_from(["-", "+", "NOT"])), inner())
            case 6:
                return Binary(self.draw(BINARY), inner(), inner())
            case 7:
                return Comparison(inner(), self.several(lambda: (self.draw(COMPARED), inner()), 1))
            case 8:
                return IsNull(inner(), self.draw(COIN))
            case _:
                return HasLabels(inner(), self.labels(2))

    def form(self, form: int, inner, entry, height: int):
        match form:
            case 10 | 11:
                name = self.draw(st.sampled_from(["toLower", "date.truncate", "Length"]))
                return FunctionCall(name, self.several(inner), self.draw(COIN))
            case 12:
                return Case(self.maybe(inner), self.several(lambda: (inner(), inner()), 1), self.maybe(inner))
            case 13:
                return ListComprehension(self.name(), inner(), self.maybe(inner), self.maybe(inner))
            case 14:
                kind = self.draw(st.sampled_from(["all", "any", "none", "single"]))
                return Quantifier(kind, self.name(), inner(), inner())
            case 15:
                return Reduce(self.name(), inner(), self.name(), inner(), inner())
            case 16:
                return PatternPredicate(self.several(lambda: self.path(height - 1), 1), self.maybe(inner))
            case 17:
                return PatternCount(self.several(lambda: self.path(height - 1), 1), self.maybe(inner))
            case 18:
                return PatternComprehension(self.path(height - 1, least=1), self.maybe(inner), inner())
            case 19:
                return Subquery(self.draw(st.sampled_from(["exists", "count", "collect"])), self.braced(height - 1))
            case _:
                return MapProjection(Variable(self.name()), self.several(entry), self.draw(COIN))

    def braced(self, height: int):
        """A query of more than patterns, which stays one when it is read."""

        def item():
            return ProjectionItem(self.expression(height), self.name(), True)

        def part(last):
            found = Match(self.several(lambda: self.path(0), 1), self.maybe(self.atom), self.draw(COIN))
            return SingleQuery((Unwind(self.expression(height), self.name()), found, last))

        returned = Projection(self.several(item, 1), False, self.draw(COIN), (), None, self.maybe(self.atom))
        parts = tuple(part(Return(returned)) for _ in range(1 + self.draw(SMALL)))
        return Query(parts, (self.draw(COIN),) * (len(parts) - 1))

    def labels(self, height: int):
        match self.draw(st.integers(0, 4)) if height else 0:
            case 0:
                return LabelName(self.name())
            case 4:
                return LabelAny()
            case 1:
                return LabelNot(self.labels(height - 1))
            case 2:
                return LabelAnd((self.labels(height - 1), *self.several(lambda: self.labels(height - 1), 1)))
            case _:
                return LabelOr((self.labels(height - 1), *self.several(lambda: self.labels(height - 1), 1)))

    def path(self, height: int, least: int = 0):
        shortest = (
            self.draw(st.sampled_from(["one", "all"])) if not least and self.draw(st.integers(0, 3)) == 0 else None
        )
        steps = (self.step(height),) if shortest else self.several(lambda: self.step(height), least)
        nodes = tuple(self.node(height) for _ in range(len(steps) + 1))
        return PathPattern(self.maybe(self.name), nodes, steps, shortest)

    def node(self, height: int):
        return NodePattern(self.maybe(self.name), self.maybe(lambda: self.labels(2)), *self.details(height))

    def step(self, height: int):
        hops = (self.draw(SMALL), self.maybe(lambda: self.draw(SMALL))) if self.draw(COIN) else None
        direction = self.draw(st.sampled_from(["out", "in", "both"]))
        types = self.several(self.name)
        labels = None if types else self.maybe(lambda: LabelNot(self.labels(2)))
        return RelationshipPattern(self.maybe(self.name), types, direction, hops, *self.details(height), labels)

    def details(self, height: int):
        def inner():
            return self.expression(max(0, height - 1))

        return self.maybe(lambda: MapLiteral(self.several(lambda: (self.name(), inner())))), self.maybe(inner)

    def item(self):
        tree = self.expression(2)
        if self.draw(COIN):
            return ProjectionItem(tree, self.name(), True)
        return ProjectionItem(tree, tree.name if isinstance(tree, Variable) else print_expression(tree), False)

    def projection(self):
        def value():
            return self.expression(1)

        order = self.several(lambda: OrderItem(self.expression(1), self.draw(COIN)))
        items, star, distinct = self.several(self.item, 1), self.draw(COIN), self.draw(COIN)
        return Projection(items, star, distinct, order, self.maybe(value), self.maybe(value))

    def clause(self):
        def condition():
            return self.expression(1)

        match self.draw(st.integers(0, 4)):
            case 4:
                return self.call()
            case 0:
                return Match(self.several(lambda: self.path(1), 1), self.maybe(condition), self.draw(COIN))
            case 1:
                return Unwind(self.expression(2), self.name())
            case 2:
                return With(self.projection(), self.maybe(condition))
            case _:
                yields = self.maybe(lambda: self.several(lambda: (self.name(), self.name()), 1))
                where = self.maybe(condition) if yields else None
                return CallProcedure("db.labels", self.several(lambda: self.expression(1)), yields, False, where)

    def call(self):
        taken = self.draw(st.integers(0, 2))
        query = self.braced(1) if self.draw(COIN) else Query((SingleQuery((Finish(),)),))
        return CallSubquery(
            query, self.several(self.name) if taken == 0 else () if taken == 1 else None, taken == 1, self.draw(COIN)
        )

    def part(self):
        last = Return(self.projection()) if self.draw(COIN) else Finish()
        return SingleQuery((*self.several(self.clause, isinstance(last, Finish)), last))


@st.composite
def expressions(draw):
    return Maker(draw).expression(3)


@st.composite
def queries(draw):
    maker = Maker(draw)
    parts = tuple(maker.part() for _ in range(draw(st.integers(1, 2))))
    mode = draw(st.sampled_from(["run", "explain", "profile"]))
    return Query(parts, (draw(COIN),) * (len(parts) - 1), mode, draw(COIN))


@settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(expressions())
def test_an_expression_survives_printing_and_reading(tree):
    text = f"RETURN {print_expression(tree)} AS x"
    clause = parse(text).parts[0].clauses[0]
    assert isinstance(clause, Return)
    assert clause.projection.items[0].expression == tree


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(queries())
def test_a_query_survives_printing_and_reading(query):
    assert parse(print_query(query)) == query
