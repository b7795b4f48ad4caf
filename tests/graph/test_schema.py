"""The schema of a graph: names, counts, types and coverage."""

import pytest

from vaultgraph.graph.schema import Endpoints, PropertyFacts, Schema, schema_of


@pytest.fixture
def schema(build) -> Schema:
    vault = {
        "A/1.md": {"links": ["[[2]]", "[[2|x]]", "[[Gone]]"], "props": {"k": 1, "only_a": "x"}},
        "A/2.md": {"props": {"k": "one", "list": [1, 2]}},
        "A/3.md": {},
        "B/4.md": {"links": ["[[1]]", "![[p.png]]"], "props": {"k": 2.5}},
        "p.png": 1,
    }
    return schema_of(build(vault).graph)


def test_labels_and_types_have_counts_most_first(schema):
    assert list(schema.labels.items()) == [("Note", 4), ("A", 3), ("Folder", 2), ("B", 1), ("Concept", 1), ("Image", 1)]
    assert dict(schema.relationship_types) == {"CONTAINS": 4, "LINKS_TO": 4, "HAS_IMAGE": 1}
    assert next(iter(schema.relationship_types)) == "CONTAINS"


def test_property_keys_are_known_by_label_and_for_any_node(schema):
    assert {"k", "list", "only_a", "body"} <= schema.property_keys("A")
    assert "only_a" not in schema.property_keys("B")
    assert "list" not in schema.property_keys("Image")
    assert {"k", "only_a", "mime", "missing"} - schema.property_keys(None) == {"missing"}
    assert schema.property_keys("Nope") == frozenset()


def test_relationship_keys_are_known_by_type(schema):
    assert schema.relationship_property_keys("LINKS_TO") == {"line", "count", "display"}
    assert schema.relationship_property_keys("CONTAINS") == frozenset()
    assert schema.relationship_property_keys("NOPE") == frozenset()
    assert {"ordinal", "display"} <= schema.relationship_property_keys(None)


def test_properties_have_types_and_coverage(schema):
    facts = {fact.key: fact for fact in schema.properties_of("A")}
    assert facts["k"] == PropertyFacts("k", ("INTEGER", "STRING"), 2, 3)
    assert facts["list"] == PropertyFacts("list", ("LIST<INTEGER>",), 1, 3)
    assert facts["title"] == PropertyFacts("title", ("STRING",), 3, 3)
    assert list(facts) == sorted(facts)
    note = {fact.key: fact for fact in schema.properties_of("Note")}
    assert note["k"] == PropertyFacts("k", ("FLOAT", "INTEGER", "STRING"), 3, 4)
    assert schema.properties_of("Nope") == ()


def test_properties_of_a_type_have_coverage_too(schema):
    facts = {fact.key: fact for fact in schema.properties_of_type("LINKS_TO")}
    assert facts["display"] == PropertyFacts("display", ("STRING",), 1, 4)
    assert facts["line"] == PropertyFacts("line", ("INTEGER",), 4, 4)
    assert schema.properties_of_type("NOPE") == ()


def test_endpoints_are_pairs_of_first_labels_with_counts(schema):
    assert schema.endpoints("LINKS_TO") == (
        Endpoints("LINKS_TO", "A", "A", 2),
        Endpoints("LINKS_TO", "A", "Concept", 1),
        Endpoints("LINKS_TO", "B", "A", 1),
    )
    assert schema.endpoints("NOPE") == ()


@pytest.mark.parametrize(
    ("value", "name"),
    [("x", "STRING"), (1, "INTEGER"), (1.5, "FLOAT"), (True, "BOOLEAN"), (["x"], "LIST<STRING>"), ([], "LIST<STRING>")],
)
def test_types_have_their_cypher_names(build, value, name):
    facts = {fact.key: fact for fact in schema_of(build({"a.md": {"props": {"k": value}}}).graph).properties_of("Note")}
    assert facts["k"].types == (name,)


def test_times_have_their_cypher_names(build):
    import datetime as dt

    moment = dt.datetime(2024, 1, 1)
    props = {"d": moment.date(), "l": moment, "z": moment.replace(tzinfo=dt.UTC)}
    facts = {fact.key: fact.types for fact in schema_of(build({"a.md": {"props": props}}).graph).properties_of("Note")}
    assert (facts["d"], facts["l"], facts["z"]) == (("DATE",), ("LOCAL DATETIME",), ("ZONED DATETIME",))


def test_the_schema_of_an_empty_graph_is_empty(build):
    schema = schema_of(build({}).graph)
    assert (dict(schema.labels), dict(schema.relationship_types), schema.properties_of("Note")) == ({}, {}, ())
