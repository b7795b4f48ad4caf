"""Binding: names, scopes, kinds and calls."""

from collections.abc import Mapping

import pytest

from vaultgraph.cypher.bind import Bound, bind
from vaultgraph.cypher.clauses import parse
from vaultgraph.cypher.printer import print_query
from vaultgraph.cypher.syntax import Match, NodePattern
from vaultgraph.errors import BindError


def bound(text: str, parameters: Mapping[str, object] | None = None) -> Bound:
    return bind(parse(text), text, None, parameters or {})


def refusal(text: str, parameters: Mapping[str, object] | None = None) -> BindError:
    with pytest.raises(BindError) as caught:
        bound(text, parameters)
    return caught.value


def test_every_pattern_gets_a_variable_and_named_ones_keep_theirs():
    match = bound("MATCH (a)-->()<-[r]-(:B) RETURN a").query.parts[0].clauses[0]
    assert isinstance(match, Match)
    names = [part.variable for part in (*match.patterns[0].nodes, *match.patterns[0].relationships)]
    assert names[0] == "a"
    assert names[4] == "r"
    assert len(set(names)) == 5
    assert all(name is not None and name.startswith(" ") for name in (names[1], names[2], names[3]))


def test_hidden_variables_are_unique_over_the_whole_query():
    query = bound("MATCH () WHERE EXISTS { ()-->() } WITH 1 AS x MATCH () RETURN [(a)-->() | 1] AS y").query
    found: list[str] = []

    def collect(value: object) -> None:
        if isinstance(value, NodePattern):
            assert value.variable is not None
            found.append(value.variable)
        if isinstance(value, tuple):
            for item in value:
                collect(item)
        elif hasattr(value, "__match_args__"):
            for name in value.__match_args__:
                collect(getattr(value, name))

    collect(query)
    assert len(found) == len(set(found)) == 6


def test_columns_are_the_names_of_the_items():
    assert bound("MATCH (n) RETURN n.x, count( * ), 1 AS `a b`").columns == ("n.x", "count( * )", "a b")


@pytest.mark.parametrize(
    ("text", "name", "near"),
    [
        ("MATCH (note) RETURN nite", "nite", "note"),
        ("MATCH (n) WHERE m.x RETURN n", "m", None),
        ("MATCH (n {x: k2}) RETURN n", "k2", None),
        ("RETURN [x IN [1] | y]", "y", None),
        ("RETURN [x IN [1] | x] + x", "x", None),
        ("RETURN any(x IN [1] WHERE z)", "z", None),
        ("MATCH (n) RETURN [(n)-->(m) | m] AS ms, m", "m", None),
        ("MATCH (n) WHERE EXISTS { (n)-->(m) } RETURN m", "m", None),
    ],
)
def test_an_undefined_variable_is_named_with_the_nearest(text, name, near):
    error = refusal(text)
    assert text[error.start : error.end] == name
    assert "is not defined" in error.reason
    assert error.suggestion == near


def test_a_variable_that_with_dropped_is_said_to_be_gone():
    error = refusal("MATCH (a)-->(b) WITH a RETURN b")
    assert "add b to it" in error.reason


def test_properties_may_use_variables_of_the_same_match():
    assert bound("MATCH (a), (b {x: a.x}) WHERE a <> b RETURN a").columns == ("a",)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("MATCH ()-[r]-() MATCH (r) RETURN r", "is a relationship, it cannot be a node"),
        ("MATCH (r) MATCH ()-[r]-() RETURN r", "is a node, it cannot be a relationship"),
        ("MATCH r = ()-->() MATCH (r) RETURN r", "is a path, it cannot be a node"),
        ("MATCH (r)-[r]-() RETURN r", "is a node, it cannot be a relationship"),
        ("WITH 1 AS r MATCH (r) RETURN r", "is an integer, it cannot be a node"),
        ("MATCH (n) WITH [n] AS ns MATCH (ns)-->() RETURN ns", "is a list, it cannot be a node"),
        ("MATCH (a)-[r]->()-[r]->(a) RETURN r", "used twice"),
        ("MATCH (a)-[r]->(), ()-[r]->() RETURN r", "used twice"),
        ("MATCH (p) MATCH p = ()-->() RETURN p", "already defined"),
        ("MATCH p = (p)-->() RETURN p", "cannot be a node"),
        ("WITH 1 AS x UNWIND [1] AS x RETURN x", "already defined"),
        ("MATCH (label) CALL db.labels() YIELD label RETURN label", "already defined"),
        ("CALL db.labels() YIELD label, label RETURN label", "already defined"),
        ("MATCH (a)-[r*]->() MATCH ()-[r]->() RETURN r", "is a list, it cannot be a relationship"),
    ],
)
def test_a_variable_is_one_thing(text, part):
    assert part in refusal(text).reason


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a)-[r]->(b) MATCH (a)-[r]->(c) RETURN c",
        "MATCH ()-[r1]->()-[r2]->() WITH [r1, r2] AS rs MATCH (a)-[rs*]->(b) RETURN a",
        "WITH null AS n OPTIONAL MATCH (n)-->(m) RETURN m",
        "MATCH (n) WITH head(collect(n)) AS n MATCH (n)-->(m) RETURN m",
        "UNWIND [1] AS x RETURN [x IN [2] | x]",
        "MATCH (n)-->(m) WHERE (n)-->(m) RETURN n",
        "MATCH (n) WHERE EXISTS { (n)-[r]->(m) WHERE type(r) = m.x } RETURN n",
    ],
)
def test_known_variables_are_used_again(text):
    assert bound(text)


@pytest.mark.parametrize("pattern", ["(n)-->(m)", "(n)-[r]->()", "(m)--(n)", "exists((n)-->(m))", "NOT (n)-->(m)"])
def test_a_bare_pattern_defines_nothing(pattern):
    assert "EXISTS { … }" in refusal(f"MATCH (n) WHERE {pattern} RETURN n").reason


@pytest.mark.parametrize(
    ("text", "at", "part"),
    [
        ("RETURN 123 OR true", "123", "OR takes true or false, and this is an integer"),
        ("RETURN NOT 'a'", "'a'", "NOT takes"),
        ("MATCH (n) WHERE n RETURN 1", "n", "A condition is true or false, and this is a node"),
        ("RETURN 1 IN 'foo'", "'foo'", "IN takes a list"),
        ("RETURN 'a' * 2", "'a'", "* takes numbers"),
        ("RETURN all(x IN ['a'] WHERE x % 2 = 0)", "x", "% takes numbers, and this is a string"),
        ("MATCH p = (a)-->() RETURN p.x", "p", "this is a path"),
        ("MATCH (a)-[r*]->() RETURN r.x", "r.x", "[x IN r | x.x]"),
        ("WITH 1 AS x RETURN x.y", "x", "this is an integer"),
        ("WITH 1 AS x RETURN x[0]", "x", "take [index]"),
        ("MATCH (n) RETURN type(n)", "n", "type cannot take a node: type("),
        ("MATCH p = (a) RETURN labels(p)", "p", "labels cannot take a path"),
        ("MATCH (n) RETURN length(n)", "n", "length cannot take a node"),
        ("RETURN properties(1)", "1", "properties cannot take an integer"),
        ("RETURN [x IN 5 | x]", "5", "takes a list"),
        ("RETURN CASE WHEN 1 THEN 2 END", "1", "A condition"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_where_it_is_certain(text, at, part):
    error = refusal(text)
    assert text[error.start : error.end] == at
    assert part in error.reason


@pytest.mark.parametrize(
    "text",
    [
        "RETURN null AND true, null IN [1], 1 IN null, null + 1, - null, NOT null, null.x, null[0]",
        "MATCH (n) WHERE n.x AND n.y % 2 = 1 RETURN n.x.y, n.x[0]",
        "RETURN date('2024-01-01') - duration('P1D') AS d",
        "WITH date('2024-01-01') AS d RETURN d.year",
        "RETURN [1, 'a'] AS xs, head([1]) + 1 AS y",
        "MATCH (n) UNWIND [n, 1] AS x RETURN x.y",
    ],
)
def test_what_may_be_right_is_let_through(text):
    assert bound(text)


@pytest.mark.parametrize(
    ("text", "at", "part", "near"),
    [
        ("RETURN toLowr('a')", "toLowr", "no function 'toLowr'", "toLower"),
        ("RETURN len('a')", "len", "no function", "size"),
        ("RETURN toLower('a', 'b')", "toLower('a', 'b')", "takes 1 argument, not 2: toLower(text", None),
        ("RETURN toLower()", "toLower()", "takes 1 argument, not 0", None),
        ("MATCH (n) RETURN count(n, n)", "count(n, n)", "takes 1 argument, not 2", None),
        ("RETURN toLower(DISTINCT 'a')", "toLower(DISTINCT 'a')", "DISTINCT belongs to aggregates", None),
    ],
)
def test_calls_are_checked(text, at, part, near):
    error = refusal(text)
    assert text[error.start : error.end] == at
    assert part in error.reason
    assert error.suggestion == near


def test_function_names_are_found_in_any_case():
    assert bound("RETURN TOLOWER('A') AS x, CoAlEsCe(null, 1) AS y").columns == ("x", "y")


def test_parameters_must_be_given():
    error = refusal("RETURN $titel", {"title": 1, "other": 2})
    assert error.reason == "The parameter $titel is missing: given are $other, $title."
    assert error.suggestion == "$title"
    assert "none are given" in refusal("RETURN $x").reason
    assert bound("RETURN $x AS x", {"x": None}).columns == ("x",)


def test_procedures():
    query = bound("CALL db.labels()").query
    assert bound("CALL DB.labels").columns == ("label",)
    assert print_query(query) == "CALL db.labels() YIELD label"
    assert bound("CALL db.labels() YIELD *").columns == ("label",)
    assert refusal("CALL db.lables()").suggestion == "db.labels"
    assert refusal("CALL db.labels() YIELD lable RETURN lable").suggestion == "label"
    assert "takes 0 arguments, not 1" in refusal("CALL db.labels(1)").reason
    assert "YIELD label" in refusal("CALL db.labels() RETURN label").reason
