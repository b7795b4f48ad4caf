"""Reading expressions: precedence, forms, and what is refused."""

import pytest

from vaultgraph.cypher.clauses import parse
from vaultgraph.cypher.printer import print_expression
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
    LabelAnd,
    LabelName,
    LabelOr,
    ListComprehension,
    Literal,
    MapProjection,
    Match,
    Parameter,
    PatternComprehension,
    PatternCount,
    PatternPredicate,
    Property,
    Quantifier,
    Reduce,
    Return,
    Slice,
    Unary,
    Variable,
)
from vaultgraph.errors import QueryError, QuerySyntaxError, UnsupportedError


def read(text: str) -> Expression:
    clause = parse(f"RETURN {text}").parts[0].clauses[0]
    assert isinstance(clause, Return)
    return clause.projection.items[0].expression


def condition(text: str) -> Expression:
    clause = parse(f"MATCH (n) WHERE {text} RETURN n").parts[0].clauses[0]
    assert isinstance(clause, Match)
    assert clause.where is not None
    return clause.where


def refusal(text: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        parse(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("a OR b XOR c AND NOT d", "(a OR (b XOR (c AND (NOT d))))"),
        ("NOT a = b", "(NOT (a = b))"),
        ("NOT a IS NULL", "(NOT (a IS NULL))"),
        ("a = b IS NULL", "(a = (b IS NULL))"),
        ("[1] + 2 IN [3] + 4", "(([1] + 2) IN ([3] + 4))"),
        ("1 = 2 IN [true]", "(1 = (2 IN [true]))"),
        ("a + b STARTS WITH c", "((a + b) STARTS WITH c)"),
        ("1 + 2 * 3 - 4", "((1 + (2 * 3)) - 4)"),
        ("4 / 2 % 3", "((4 / 2) % 3)"),
        ("2 ^ 3 ^ 2", "((2 ^ 3) ^ 2)"),
        ("2 * 3 ^ 2", "(2 * (3 ^ 2))"),
        ("-a ^ 2", "((- a) ^ 2)"),
        ("- -a.b", "(- (- a.b))"),
        ("a || b + c", "((a || b) + c)"),
        ("a.b[0].c[1..]", "a.b[0].c[1..]"),
        ("1 < a <= 2", "(1 < a <= 2)"),
        ("a =~ b AND c CONTAINS d", "((a =~ b) AND (c CONTAINS d))"),
        ("a OR b OR c OR d", "((a OR b) OR (c OR d))"),
        ("(a) - (b)", "(a - b)"),
        ("(a) - -(b)", "(a - (- b))"),
        ("(n.x)-[1][0]", "(n.x - [1][0])"),
        ("x IN [1] = true", "((x IN [1]) = true)"),
    ],
)
def test_precedence(text, grouped):
    assert print_expression(read(text)) == grouped


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775807", 2**63 - 1),
        ("-0x8000000000000000", -(2**63)),
        ("0o17", 15),
        ("1_000", 1000),
        ("-1", -1),
        ("-(1)", None),
        ("1.5e3", 1500.0),
        (".5", 0.5),
        ("TrUe", True),
        ("'a'", "a"),
    ],
)
def test_literals(text, value):
    tree = read(text)
    if value is None:
        assert tree == Unary("-", Literal(1))
    else:
        assert tree == Literal(value)
        assert type(tree.value) is type(value)  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775809", "0x8000000000000000", "1.34E999"])
def test_numbers_beyond_their_type_are_refused(text):
    error = refusal(f"RETURN {text}")
    assert (error.start, error.end) == (7, 7 + len(text))


def test_null_and_maps_and_lists():
    assert read("null") == Literal(None)
    assert print_expression(read("{a: [1, 'b'], `c d`: {}, in: $p}")) == "{a: [1, 'b'], `c d`: {}, in: $p}"


def test_postfix_forms():
    n = Variable("n")
    assert read("n.end") == Property(n, "end")
    assert read("n['x']") == Index(n, Literal("x"))
    assert read("n[1..2]") == Slice(n, Literal(1), Literal(2))
    assert read("n[..2]") == Slice(n, None, Literal(2))
    assert read("n[..]") == Slice(n, None, None)
    assert read("n:A:B") == HasLabels(n, LabelAnd((LabelName("A"), LabelName("B"))))
    assert read("n:A|B") == HasLabels(n, LabelOr((LabelName("A"), LabelName("B"))))
    assert read("(n:Foo)") == HasLabels(n, LabelName("Foo"))
    assert read("n.x IS NOT NULL") == IsNull(Property(n, "x"), True)


def test_calls():
    assert read("count(*)") == CountStar()
    assert read("cOuNt( dIstInct n )") == FunctionCall("cOuNt", (Variable("n"),), True)
    assert read("date.truncate('day', $d)") == FunctionCall("date.truncate", (Literal("day"), Parameter("d")))
    assert read("exists(n.x)") == IsNull(Property(Variable("n"), "x"), True)
    assert read("all") == Variable("all")
    assert read("count") == Variable("count")


def test_case_in_both_forms():
    simple = read("CASE n.x WHEN 1 THEN 'a' ELSE 'b' END")
    assert simple == Case(Property(Variable("n"), "x"), ((Literal(1), Literal("a")),), Literal("b"))
    searched = read("CASE WHEN n.x > 1 THEN 'a' WHEN n.y THEN 'b' END")
    assert isinstance(searched, Case)
    assert searched.subject is None
    assert len(searched.branches) == 2
    assert searched.default is None


def test_list_comprehensions_and_lists_of_conditions_are_told_apart():
    assert read("[x IN xs]") == ListComprehension("x", Variable("xs"), None, None)
    tree = read("[x IN xs WHERE x:A | x.y]")
    assert tree == ListComprehension(
        "x", Variable("xs"), HasLabels(Variable("x"), LabelName("A")), Property(Variable("x"), "y")
    )
    assert print_expression(read("[x IN xs, y IN ys]")) == "[(x IN xs), (y IN ys)]"


def test_quantifiers_and_reduce():
    assert read("any(x IN xs WHERE x)") == Quantifier("any", "x", Variable("xs"), Variable("x"))
    assert read("none(x)") == FunctionCall("none", (Variable("x"),))
    tree = read("reduce(s = 0, x IN xs | s + x)")
    assert tree == Reduce("s", Literal(0), "x", Variable("xs"), Binary("+", Variable("s"), Variable("x")))


def test_patterns_and_parentheses_are_told_apart():
    assert isinstance(condition("(n)-->()"), PatternPredicate)
    assert isinstance(condition("(n:A {x: 1})<-[:T]-(:B)"), PatternPredicate)
    assert isinstance(condition("(n)--(n)"), PatternPredicate)
    assert isinstance(condition("(n.x)-(1) > 0"), Comparison)
    assert isinstance(condition("(n) < -1"), Comparison)
    assert isinstance(condition("NOT (n)-->() AND ((n)<--())"), Binary)


def test_pattern_forms():
    tree = read("[p = (a)-[:T]->(b) WHERE b.x | b]")
    assert isinstance(tree, PatternComprehension)
    assert tree.pattern.variable == "p"
    assert isinstance(condition("EXISTS { (n)-->(m) WHERE m.x }"), PatternPredicate)
    assert isinstance(condition("exists { MATCH (n)-->(m) RETURN m }"), PatternPredicate)
    assert isinstance(condition("exists((n)-->())"), PatternPredicate)
    assert isinstance(read("COUNT { (n)-->(m), (m)-->(n) }"), PatternCount)
    assert isinstance(read("size(xs)"), FunctionCall)
    assert isinstance(read("COLLECT { MATCH (n)-->(m) RETURN m.x }"), PatternComprehension)


def test_map_projections():
    n = Variable("n")
    tree = read("n {.a, .*, b: n.c + 1, other}")
    assert tree == MapProjection(
        n,
        (("a", Property(n, "a")), ("b", Binary("+", Property(n, "c"), Literal(1))), ("other", Variable("other"))),
        True,
    )


@pytest.mark.parametrize(
    "text",
    ["(n)-->()", "toString((n)-->())", "(n)-->() = true", "head((n)-->())"],
)
def test_a_bare_pattern_is_a_condition_and_not_a_value(text):
    assert "EXISTS" in refusal(f"MATCH (n) RETURN {text}").reason


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("WHERE n.x != 1", "<>"),
        ("WHERE n.x == 1", "one ="),
        ("WHERE n.x LIKE 'a%'", "CONTAINS"),
        ("WHERE n.x && n.y", "AND"),
        ("WHERE !n.x", "NOT"),
        ("WHERE n.x NOT IN [1]", "NOT x IN list"),
        ("WHERE n.x IN (1, 2)", "square brackets"),
        ("WHERE n.x BETWEEN 1 AND 2", "low <= x <= high"),
        ("WHERE n.x IS 1", "NOT NULL"),
        ("WHERE n.x STARTS 'a'", "WITH"),
        ("WHERE any(x IN n.xs)", "needs its condition"),
        ("WHERE sum(*)", "Only count takes a star"),
        ("WHERE exists(n)", "EXISTS { (n)-->() }"),
        ("WHERE n.x = [1, ]", "an expression is expected"),
        ("WHERE n.x = {'a': 1}", "write a: …"),
        ("WHERE n.x = {a.b: 1}", "colon"),
        ("WHERE order = 1", "`order`"),
        ("WHERE CASE n.x END", "WHEN"),
        ("WHERE CASE WHEN n.x THEN 1", "END"),
        ("WHERE reduce(x IN n.xs | x)", "reduce(sum = 0"),
        ("WHERE filter(x IN n.xs WHERE x)", "[x IN list"),
        ("WHERE size((n)--()) > 1", "COUNT { (n)--() }"),
        ("WHERE COLLECT { (n)--() } = []", "MATCH … RETURN value"),
        ("WHERE EXISTS { (n)--(m) RETURN m }", "need their MATCH"),
        ("WHERE trim(BOTH 'x', n.x) = ''", "trim(BOTH 'x' FROM text)"),
        ("WHERE ", "an expression is expected"),
    ],
)
def test_wrong_expressions_are_explained(text, part):
    error = refusal(f"MATCH (n) {text} RETURN n")
    assert isinstance(error, QuerySyntaxError)
    assert part in error.reason


@pytest.mark.parametrize(
    "text",
    [
        "shortestPath((n)-[*]->(n)) IS NULL",
    ],
)
def test_what_is_right_but_not_run_is_named_so(text):
    assert isinstance(refusal(f"MATCH (n) WHERE {text} RETURN n"), UnsupportedError)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "1" + ")" * 5000,
        "[" * 5000 + "]" * 5000,
        "1" + " + 1" * 5000,
        "NOT " * 5000 + "true",
        "-" * 5000 + "$a",
        "$a" + ".b" * 5000,
        "$a" + "[0]" * 5000,
        "[x IN " * 3000 + "1" + "]" * 3000,
        "CASE WHEN 1 THEN " * 3000 + "1" + " END" * 3000,
        "EXISTS { (n) WHERE " * 3000 + "true" + " }" * 3000,
        "EXISTS { (n {a: EXISTS { (m) WHERE " * 1000 + "true" + " }}) }" * 1000,
        "($a OR $a AND NOT $a < $a + $a * $a ^ - " * 2000 + "1" + ")" * 2000,
    ],
)
def test_nesting_beyond_the_cap_is_an_error_and_never_exhausts_the_stack(text):
    assert "levels" in refusal(f"RETURN {text}").reason


@pytest.mark.parametrize(
    "text",
    [
        "(" * 50 + "1" + ")" * 50,
        "$a" + " OR $a" * 5000,
        "[" + "1, " * 5000 + "1]",
        "1" + " < 2" * 5000,
        "($a OR $a AND NOT $a < $a + $a * $a ^ - " * 9 + "1" + ")" * 9,
    ],
)
def test_long_queries_and_sensible_nesting_are_read(text):
    assert read(text) is not None
