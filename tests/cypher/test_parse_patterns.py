"""Reading patterns in MATCH."""

import pytest

from vaultgraph.cypher.clauses import parse
from vaultgraph.cypher.syntax import (
    LabelAnd,
    LabelName,
    LabelNot,
    LabelOr,
    Literal,
    MapLiteral,
    Match,
    NodePattern,
    PathPattern,
    RelationshipPattern,
)
from vaultgraph.errors import QueryError, UnsupportedError


def paths(text: str) -> tuple[PathPattern, ...]:
    clause = parse(f"MATCH {text} RETURN 1").parts[0].clauses[0]
    assert isinstance(clause, Match)
    return clause.patterns


def node(text: str) -> NodePattern:
    return paths(text)[0].nodes[0]


def relationship(text: str) -> RelationshipPattern:
    return paths(f"(){text}()")[0].relationships[0]


def refusal(text: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        paths(text)
    return caught.value


def test_nodes():
    assert node("()") == NodePattern(None)
    assert node("(n)") == NodePattern("n")
    assert node("(:A)") == NodePattern(None, LabelName("A"))
    assert node("(n {x: 1})") == NodePattern("n", None, MapLiteral((("x", Literal(1)),)))
    assert node("(`odd name`:`Field Notes`)") == NodePattern("odd name", LabelName("Field Notes"))
    assert node("(n:Order)").labels == LabelName("Order")
    assert node("(n:A WHERE n.x > 1)").where is not None


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("A:B", LabelAnd((LabelName("A"), LabelName("B")))),
        ("A&B", LabelAnd((LabelName("A"), LabelName("B")))),
        ("A|B", LabelOr((LabelName("A"), LabelName("B")))),
        ("!A", LabelNot(LabelName("A"))),
        ("A|B&!C", LabelOr((LabelName("A"), LabelAnd((LabelName("B"), LabelNot(LabelName("C"))))))),
        ("(A|B)&C", LabelAnd((LabelOr((LabelName("A"), LabelName("B"))), LabelName("C")))),
    ],
)
def test_label_expressions(text, labels):
    assert node(f"(n:{text})").labels == labels


@pytest.mark.parametrize(
    ("text", "direction"),
    [("--", "both"), ("-->", "out"), ("<--", "in"), ("<-->", "both"), ("-[r]-", "both"), ("-[r]->", "out"),
     ("<-[r]-", "in"), ("<-[r]->", "both"), ("-[]->", "out"), ("- [] - >", "out")],
)  # fmt: skip
def test_directions(text, direction):
    assert relationship(text).direction == direction


@pytest.mark.parametrize(
    ("text", "types"), [("-[:A]->", ("A",)), ("-[r:A|B]->", ("A", "B")), ("-[:A|:B|C]->", ("A", "B", "C"))]
)
def test_types(text, types):
    assert relationship(text).types == types


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("-[*]->", (1, None)),
        ("-[:T*]->", (1, None)),
        ("-[r:T*2]->", (2, 2)),
        ("-[*0]->", (0, 0)),
        ("-[*1..3]->", (1, 3)),
        ("-[*..3]->", (1, 3)),
        ("-[*2..]->", (2, None)),
        ("-[*..]->", (1, None)),
        ("-[*3..1]->", (3, 1)),
        ("-[:T*1..3 {x: 1}]->", (1, 3)),
        ("-[:T]->{1,3}", (1, 3)),
        ("-[:T]->{2}", (2, 2)),
        ("-->{,3}", (0, 3)),
        ("-->{2,}", (2, None)),
        ("-[:T]->+", (1, None)),
        ("<-[:T]-*", (0, None)),
        ("-->", None),
    ],
)
def test_lengths(text, length):
    assert relationship(text).length == length


def test_paths():
    first, second = paths("p = (a)-->(b)<--(c), (d)")
    assert first.variable == "p"
    assert [one.variable for one in first.nodes] == ["a", "b", "c"]
    assert [one.direction for one in first.relationships] == ["out", "in"]
    assert second.relationships == ()
    assert paths("p = shortestPath((a)-[*]->(b))")[0].shortest == "one"
    assert paths("allShortestPaths((a)-[*]-(b))")[0].shortest == "all"
    assert paths("((a)-->(b))") == paths("(a)-->(b)")


def test_spans_cover_the_pattern():
    text = "MATCH (n:Note)-[r:T]->(m) RETURN 1"
    path = parse(text).parts[0].clauses[0].patterns[0]  # type: ignore[union-attr]
    assert text[slice(*path.nodes[0].at)] == "(n:Note)"
    assert text[slice(*path.relationships[0].at)] == "-[r:T]->"
    assert text[slice(*path.at)] == "(n:Note)-[r:T]->(m)"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("(n:Field Notes)", "`Field Notes`"),
        ("(n:some-label {x: 1})", "`some-label`"),
        ("()-[:LINKS TO]->()", "`LINKS TO`"),
        ("(order:Order)", "`order`"),
        ("(n $p)", "{key: $p.key}"),
        ("(a)->(b)", "a relationship is written"),
        ("(a)-(b)", "a relationship is written"),
        ("(a)=>(b)", "unexpected"),
        ("(a) (b)", "separated by a comma"),
        ("()-[:T..]->()", "with a star"),
        ("()-[*1.5]->()", "whole number"),
        ("()-[*-2]->()", "negative"),
        ("()-[*2]->{3}()", "two lengths"),
        ("()-->{}()", "quantifier"),
        ("shortestPath((a))", "one relationship"),
        ("n:Note", "a node such as"),
        ('(n {"x": 1})', "write x: …"),
    ],
)
def test_wrong_patterns_are_explained(text, part):
    assert part in refusal(text).reason


@pytest.mark.parametrize("text", ["((a)-->(b)){2}", "ANY SHORTEST (a)-[*]->(b)"])
def test_patterns_that_are_right_but_not_run(text):
    assert isinstance(refusal(text), UnsupportedError)
