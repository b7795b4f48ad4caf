"""Reading `ontology:` of vault.yaml: what is accepted, and what is refused where."""

from textwrap import dedent, indent

import pytest

from vaultgraph.errors import ProfileError
from vaultgraph.profile.ontology import Class, Contract, Ontology, RelationshipClass, ValueRule
from vaultgraph.profile.vault_yaml import load_profile


def read(text: str) -> Ontology | None:
    written = "kglite_vault: 1\nontology:\n" + indent(dedent(text), "  ")
    return load_profile({".kglite/vault.yaml": written.encode()}.get).ontology


def test_no_ontology_is_none():
    assert load_profile({".kglite/vault.yaml": b"kglite_vault: 1\n"}.get).ontology is None


def test_every_key_of_a_class_is_read():
    found = read("""
        version: 3
        closed_labels: true
        classes:
          Vessel: {abstract: true, description: It floats, by: rig}
          Boat:
            is_a: Vessel
            required_properties: [length, built]
            property_types: {length: Float, built: date, crew: array, note: any, n: INT}
            property_values:
              rig: {enum: [gaff, 2, true, 1.5], pattern: ^g, not_pattern: x$}
              length: {min: 1, max: 99.5}
            enforcement: error
            enforcement_overrides: {property_types: advisory}
          Dinghy: {}
    """)
    assert found == Ontology(
        classes={
            "Vessel": Class(abstract=True, description="It floats", by="rig"),
            "Boat": Class(
                is_a="Vessel",
                contract=Contract(
                    ("length", "built"),
                    {"length": "float", "built": "date", "crew": "list", "note": "any", "n": "integer"},
                    {
                        "rig": ValueRule(("gaff", 2, True, 1.5), "^g", "x$"),
                        "length": ValueRule(least=1, most=99.5),
                    },
                ),
                enforcement="error",
                overrides={"property_types": "advisory"},
            ),
            "Dinghy": Class(),
        },
        closed_labels=True,
    )
    assert found.descendants() == {
        "Vessel": {"Vessel", "Boat"},
        "Boat": {"Boat"},
        "Dinghy": {"Dinghy"},
    }


def test_every_key_of_a_relationship_is_read():
    found = read("""
        relationships:
          SAILS:
            domain: Person
            range: Boat
            description: At the helm
            required: true
            cardinality: {min: 0, max: 2}
            required_properties: [since]
            property_types: {since: timestamp}
            property_values: {role: {enum: [skipper]}}
            by_source: {Guest: {required_properties: [until]}}
            distinct: [role]
            inverse_name: SAILED_BY
            inverse_enforced: true
            symmetric: false
            transitive: true
            exempt: {required: [Guest], distinct: [Guest]}
            enforcement: {domain: error}
          KIND_OF: {ancestry: true, distinct: true}
    """)
    assert found is not None
    assert found.relationships["SAILS"] == RelationshipClass(
        domain="Person",
        range="Boat",
        description="At the helm",
        required=True,
        least=0,
        most=2,
        contract=Contract(("since",), {"since": "datetime"}, {"role": ValueRule(("skipper",))}),
        by_source={"Guest": Contract(("until",))},
        distinct=("role",),
        inverse_name="SAILED_BY",
        inverse_enforced=True,
        transitive=True,
        exempt={"required": ("Guest",), "distinct": ("Guest",)},
        enforcement="advisory",
        overrides={"domain": "error"},
    )
    assert found.relationships["KIND_OF"] == RelationshipClass(ancestry=True, distinct=())


def test_a_severity_for_everything_goes_where_none_is_stated():
    found = read("""
        enforcement: advisory
        classes: {A: {}, B: {enforcement: error}}
        relationships: {R: {}}
    """)
    assert found is not None
    assert [found.classes["A"].enforcement, found.classes["B"].enforcement] == ["advisory", "error"]
    assert found.relationships["R"].enforcement == "advisory"
    assert found.enforcement == "advisory"


@pytest.mark.parametrize(
    ("text", "line", "key", "words"),
    [
        ("colour: 1", 3, "ontology.colour", "Accepted here: version, classes, relationships"),
        ("version: 0", 3, "ontology.version", "1 or more"),
        ("closed_labels: true", 3, "ontology.closed_labels", "at least one class"),
        ("classes: [A]", 3, "ontology.classes", "must be a mapping"),
        ("classes:\n  A:", 4, "ontology.classes.A", "must be a mapping"),
        ("classes: {A: {is_a: B}}", 3, "ontology.classes.A.is_a", "`B`, which is no class"),
        ("classes: {A: {is_a: A}}", 3, "ontology.classes.A.is_a", "circle"),
        ("classes:\n  A: {is_a: B}\n  B: {is_a: C}\n  C: {is_a: B}", 5, "ontology.classes.B.is_a", "circle"),
        ("classes: {A: {is_a: [B]}, B: {}}", 3, "ontology.classes.A.is_a", "must be a string"),
        ("classes: {A: {abstract: yes}}", 3, "ontology.classes.A.abstract", "true or false"),
        ("classes: {A: {property_types: {x: text}}}", 3, "ontology.classes.A.property_types.x", "string, integer"),
        ("classes: {A: {property_values: {x: [1]}}}", 3, "ontology.classes.A.property_values.x", "mapping"),
        ("classes: {A: {property_values: {x: {}}}}", 3, "ontology.classes.A.property_values.x", "at least one of"),
        (
            "classes: {A: {property_values: {x: {enum: []}}}}",
            3,
            "ontology.classes.A.property_values.x.enum",
            "one value",
        ),
        (
            "classes: {A: {property_values: {x: {pattern: '('}}}}",
            3,
            "ontology.classes.A.property_values.x.pattern",
            "unclosed group",
        ),
        ("classes: {A: {property_values: {x: {min: a}}}}", 3, "ontology.classes.A.property_values.x.min", "a number"),
        (
            "classes: {A: {property_values: {x: {min: 2, max: 1}}}}",
            3,
            "ontology.classes.A.property_values.x.min",
            "more",
        ),
        ("classes: {A: {enforcement: strict}}", 3, "ontology.classes.A.enforcement", "advisory, warn, error"),
        ("classes: {A: {enforcement: {domain: warn}}}", 3, "ontology.classes.A.enforcement.domain", "property_types"),
        ("relationships: {R: {domain: [A]}}", 3, "ontology.relationships.R.domain", "must be a string"),
        ("relationships: {R: {cardinality: {min: 2, max: 1}}}", 3, "ontology.relationships.R.cardinality.min", "more"),
        ("relationships: {R: {cardinality: {max: -1}}}", 3, "ontology.relationships.R.cardinality.max", "0 or more"),
        (
            "relationships: {R: {inverse_enforced: true}}",
            3,
            "ontology.relationships.R.inverse_enforced",
            "inverse_name",
        ),
        (
            "relationships: {R: {transitive: true, ancestry: true}}",
            3,
            "ontology.relationships.R.ancestry",
            "transitive",
        ),
        ("relationships: {R: {distinct: []}}", 3, "ontology.relationships.R.distinct", "no properties"),
        ("relationships: {R: {exempt: {domain: [A]}}}", 3, "ontology.relationships.R.exempt.domain", "required"),
        (
            "relationships: {R: {by_source: {A: {domain: B}}}}",
            3,
            "ontology.relationships.R.by_source.A.domain",
            "required",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(text: str, line: int, key: str, words: str):
    with pytest.raises(ProfileError) as caught:
        read(text)
    assert (caught.value.data["line"], caught.value.data["key"]) == (line, key)
    assert words in str(caught.value)


def test_a_chain_of_classes_that_is_too_long_is_refused():
    chain = "\n".join(f"  C{at}: {{is_a: C{at + 1}}}" for at in range(60)) + "\n  C60: {}"
    with pytest.raises(ProfileError, match="more than 50 classes above it"):
        read("classes:\n" + chain)


def test_too_many_classes_are_refused():
    with pytest.raises(ProfileError, match="at most 1,000"):
        read("classes:\n" + "\n".join(f"  C{at}: {{}}" for at in range(1001)))


def test_too_many_patterns_are_refused_before_they_are_compiled():
    rules = ", ".join(f"x{at}: {{pattern: a{at}}}" for at in range(201))
    with pytest.raises(ProfileError, match="at most 200"):
        read("classes: {A: {property_values: {" + rules + "}}}")
    same = ", ".join(f"x{at}: {{pattern: a, not_pattern: b}}" for at in range(201))
    assert read("classes: {A: {property_values: {" + same + "}}}") is not None
