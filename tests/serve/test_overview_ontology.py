"""The overview of a vault that declares an ontology."""

import pytest

CONFIGURATION = """
kglite_vault: 1
ontology:
  classes:
    Vessel: {abstract: true, description: Anything that floats, required_properties: [name]}
    Boat:
      is_a: Vessel
      by: rig
      property_types: {length: float}
      property_values: {rig: {enum: [gaff, sloop]}, length: {min: 1}}
    Person: {}
  relationships:
    SAILED_BY:
      domain: Vessel
      range: Person
      cardinality: {max: 1}
      required: true
      inverse_name: SAILS
      description: The skipper
      exempt: {required: [Wreck]}
    OWNS: {domain: Person, symmetric: true, distinct: [share]}
"""
VAULT = {
    ".kglite/vault.yaml": CONFIGURATION,
    "Selkie.md": '---\ntype: Boat\nname: x\nlength: long\nrig: bad\nsailed_by: "[[Ann]]"\n---\n',
    "Fulmar.md": "---\ntype: Boat\n---\n",
    "Ann.md": "---\ntype: Person\n---\n",
}


@pytest.fixture
def vault(local, write):
    return local(write(VAULT))


def test_the_plain_overview_says_that_an_ontology_is_declared_and_how_well_it_is_met(vault):
    assert "\nOntology: 3 classes, 2 relationship types; 4 violations (problems:true)\n" in vault.text("graph_overview")


def test_without_an_ontology_the_overview_has_no_line_for_it(local, write):
    assert "Ontology" not in local(write({"A.md": "a"})).text("graph_overview")


def test_a_label_shows_what_is_declared_for_it(vault):
    lines = vault.text("graph_overview", types=["Boat"]).split("\n")
    assert lines[:8] == [
        "Boat: 2 nodes",
        "declared: is_a Vessel; kinds in rig",
        "  types: length float",
        "  values: rig one of gaff, sloop, length at least 1",
        "  as Vessel requires name",
        "  out: SAILED_BY → Person (required, at most 1)",
        "  2 violations (problems:true)",
        "properties (type, share, samples):",
    ]


def test_a_class_without_nodes_shows_what_is_declared_for_it(vault):
    assert vault.text("graph_overview", types=["Vessel"]).split("\n")[:-2] == [
        "Vessel: 0 nodes",
        "declared: abstract; below it Boat — Anything that floats",
        "  requires name",
        "  out: SAILED_BY → Person (required, at most 1)",
        "  1 violation (problems:true)",
    ]


def test_a_relationship_type_shows_what_is_declared_for_it(vault):
    assert vault.text("graph_overview", connections=["SAILED_BY"]).split("\n")[:3] == [
        "SAILED_BY 1: Boat → Person 1",
        "declared: Vessel → Person; required; at most 1; inverse SAILS; required not for Wreck — The skipper",
        "  1 violation (problems:true)",
    ]
    assert vault.text("graph_overview", connections=["OWNS"]).split("\n")[:-2] == [
        "OWNS 0",
        "declared: Person → any; distinct by share; symmetric",
        "  0 violations",
    ]


def test_what_is_neither_there_nor_declared_is_an_error_still(vault):
    assert "Did you mean Boat?" in vault.error("graph_overview", types=["Bota"])
    assert "Did you mean SAILED_BY?" in vault.error("graph_overview", connections=["SAILED"])


def test_a_large_ontology_is_shown_in_a_small_answer(local, write):
    classes = "\n".join(f"    Class{at}: {{is_a: Top, description: {'long ' * 100}}}" for at in range(200))
    keys = ", ".join(f"property{at}" for at in range(200))
    text = f"kglite_vault: 1\nontology:\n  classes:\n    Top: {{required_properties: [{keys}]}}\n{classes}\n"
    vault = local(write({".kglite/vault.yaml": text, "A.md": "a"}))
    assert len(vault.text("graph_overview", types=["Top"])) < 1000
    assert len(vault.text("graph_overview", types=["Class7"])) < 1000
    assert len(vault.text("graph_overview").encode()) < 4000
