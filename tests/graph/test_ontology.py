"""A graph held against the ontology its vault declares."""

from collections.abc import Callable
from datetime import date

import pytest

from vaultgraph.graph import ontology, ontology_relationships
from vaultgraph.graph.ontology import violations
from vaultgraph.profile.ontology import Class, Contract, Ontology, RelationshipClass, ValueRule
from vaultgraph.profile.settings import Profile

Found = list[tuple[str, int | None, str]]


def note(name: str, *labels: str, **properties: object):
    return ((*labels, "Note"), {"id": name, "path": f"{name}.md", "file_path": f"{name}.md", **properties})


@pytest.fixture
def judge(make_graph) -> Callable[..., Found]:
    """(path, line, message) of all violations with a code, in order; ``code`` without its `ontology-`."""

    def run(code: str, declared: Ontology, nodes, relationships=(), severity: str = "warning") -> Found:
        found = violations(make_graph(nodes, relationships), Profile(ontology=declared)).filter(code=code)
        assert found["severity"].unique().to_list() in ([], [severity])
        return sorted(found.select("path", "line", "message").rows(), key=repr)

    return run


def paths(found: Found) -> list[str]:
    return [path for path, _, _ in found]


def of_class(contract: Contract, **others: object) -> Ontology:
    return Ontology(classes={"Boat": Class(contract=contract, **others)})


def test_without_an_ontology_nothing_is_judged(make_graph):
    assert violations(make_graph([note("a")], []), Profile()).is_empty()


def test_a_required_property_must_have_a_value(judge):
    nodes = [
        note("a", "Boat", length=3),
        note("b", "Boat", built=1990),
        note("c", "Person"),
        note("d", "Boat", length="", built=[]),
    ]
    found = judge("ontology-property", of_class(Contract(("length", "built"))), nodes)
    assert found == [
        ("a.md", None, "class Boat: 'built' is required, and this node has no value for it."),
        ("b.md", None, "class Boat: 'length' is required, and this node has no value for it."),
    ]


def test_a_contract_goes_for_the_classes_below_and_for_labels_after_the_first(judge):
    declared = Ontology(
        classes={
            "Thing": Class(contract=Contract(("name",)), abstract=True),
            "Boat": Class(is_a="Thing"),
            "Dinghy": Class(is_a="Boat"),
            "Note": Class(contract=Contract(("name",))),
        }
    )
    nodes = [note("a", "Dinghy"), note("b", "Person")]
    found = judge("ontology-property", declared, nodes)
    assert [(path, message.split(":")[0]) for path, _, message in found] == [
        ("a.md", "class Note"),
        ("a.md", "class Thing"),
        ("b.md", "class Note"),
    ]


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("string", ["x", ""], [1, 1.5, True, date(2024, 1, 2), ["x"], []]),
        ("integer", [1], ["1", 1.0, True, ["x"]]),
        ("float", [1, 1.5], ["1", True]),
        ("boolean", [True], ["true", 1]),
        ("date", [date(2024, 1, 2)], ["2024-01-02", 1]),
        ("datetime", [date(2024, 1, 2)], ["2024-01-02", 1]),
        ("list", [["x"], [], [1, "x"]], ["x", 1, {"k": 1}]),
        ("any", ["x", 1, [1, "x"], {"k": 1}], []),
        ("point", ["1,2"], []),
    ],
)
@pytest.mark.parametrize("apart", [True, False])
def test_a_value_must_be_of_the_declared_type(judge, kind, right, wrong, apart):
    """Apart: each cell in a segment of its own, typed; together: one segment whose cells differ."""
    values = [*right, *wrong]
    nodes = [note(f"n{at}", *(["Boat", f"L{at}"] if apart else ["Boat"]), x=value) for at, value in enumerate(values)]
    found = judge("ontology-type", of_class(Contract(property_types={"x": kind})), nodes)
    assert paths(found) == [f"n{at}.md" for at in range(len(right), len(values))]


def test_a_wrong_type_says_what_is_there(judge):
    nodes = [note("a", "Boat", x="long " * 40), note("b", "Boat", x=3)]
    found = judge("ontology-type", of_class(Contract(property_types={"x": "integer"})), nodes)
    assert found == [("a.md", None, f"class Boat: 'x' must be an integer, but is '{('long ' * 40)[:59]}…'.")]


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [
        (
            ValueRule(enum=("a", 2, True)),
            ["a", 2, 2.0, True, ["a", "a"], {"k": 1}],
            ["b", "2", 3, 1, False, ["a", "b"]],
        ),
        (ValueRule(enum=(1.5,)), [1.5], ["1.5", 1, True]),
        (ValueRule(pattern="^a"), ["abc", 1, ["ab", "a"]], ["bac", "", ["ab", "b"]]),
        (ValueRule(not_pattern="z$"), ["za", 1], ["az"]),
        (ValueRule(least=1, most=2.5), [1, 2.5, "9", True], [0, 3, -1.5, [2, 3]]),
        (ValueRule(enum=("2024-01-02",)), [date(2024, 1, 2)], [date(2024, 1, 3)]),
    ],
)
@pytest.mark.parametrize("apart", [True, False])
def test_a_value_must_be_one_that_is_allowed(judge, rule, right, wrong, apart):
    if not apart:  # beside other types a list is JSON text, which is not looked into
        right, wrong = ([value for value in values if not isinstance(value, list)] for values in (right, wrong))
    values = [*right, *wrong]
    nodes = [
        note(f"n{at:02}", *(["Boat", f"L{at}"] if apart else ["Boat"]), x=value) for at, value in enumerate(values)
    ]
    found = judge("ontology-value", of_class(Contract(property_values={"x": rule})), nodes)
    assert paths(found) == [f"n{at:02}.md" for at in range(len(right), len(values))]


def test_a_wrong_value_says_which_are_right(judge):
    rule = ValueRule(enum=("gaff", "sloop"), pattern="^g{1}")
    found = judge(
        "ontology-value", of_class(Contract(property_values={"{}": rule})), [note("a", "Boat", **{"{}": "{}"})]
    )
    assert found == [("a.md", None, "class Boat: '{}' is '{}', but must be one of gaff, sloop and like ^g{1}.")]


def test_an_advisory_rule_is_an_info(judge):
    contract = Contract(("x",), {"y": "integer"})
    nodes = [note("a", "Boat", y="text")]
    advisory = of_class(contract, enforcement="advisory", overrides={"property_types": "error"})
    assert paths(judge("ontology-property", advisory, nodes, severity="info")) == ["a.md"]
    assert paths(judge("ontology-type", advisory, nodes)) == ["a.md"]


def test_no_node_is_only_of_an_abstract_class(judge):
    declared = Ontology(
        classes={"Thing": Class(abstract=True), "Boat": Class(is_a="Thing"), "Note": Class(abstract=True)}
    )
    found = judge("ontology-label", declared, [note("a", "Thing"), note("b", "Boat"), note("c")])
    assert paths(found) == ["a.md", "c.md"]


def test_closed_labels_judge_the_own_label_of_notes(judge):
    declared = Ontology(classes={"Boat": Class()}, closed_labels=True)
    nodes = [note("a", "Boat"), note("b", "Bote"), note("c"), (("Tag",), {"id": "t"})]
    found = judge("ontology-label", declared, nodes)
    assert paths(found) == ["b.md", "c.md"]
    assert "Bote is no class" in found[0][2]


SAILORS = [
    note("ann", "Person"),
    note("bob", "Guest"),
    note("rock", "Place"),
    note("gull", "Boat"),
    note("tern", "Yacht"),
]
ANN, BOB, ROCK, GULL, TERN = range(5)
CREW = {"Person": Class(), "Guest": Class(is_a="Person"), "Boat": Class(), "Yacht": Class(is_a="Boat")}


def crewed(**declared: object) -> Ontology:
    return Ontology(classes=CREW, relationships={"SAILS": RelationshipClass(**declared)})


def test_a_relationship_leads_from_its_domain_to_its_range(judge):
    rows = [
        (ANN, "SAILS", GULL, {"line": 3}),
        (BOB, "SAILS", TERN, {"line": 4}),
        (ROCK, "SAILS", GULL, {"line": 5}),
        (ANN, "SAILS", ROCK, {"line": 6}),
    ]
    assert judge("ontology-ends", crewed(domain="Person", range="Boat"), SAILORS, rows) == [
        ("ann.md", 6, "relationship SAILS: the one to 'rock.md' leads to Place, but the range is Boat."),
        ("rock.md", 5, "relationship SAILS: the one to 'gull.md' comes from Place, but the domain is Person."),
    ]


def test_what_is_only_named_is_in_every_range(judge):
    gone = (("Concept",), {"id": "gone", "_provisional": True})
    found = judge("ontology-ends", crewed(range="Boat"), [*SAILORS, gone], [(ANN, "SAILS", 5, {})])
    assert found == []


def test_every_node_of_the_domain_needs_a_required_relationship(judge):
    declared = crewed(domain="Person", required=True, exempt={"required": ("Guest",)})
    assert paths(judge("ontology-count", declared, SAILORS)) == ["ann.md"]
    declared = crewed(domain="Person", required=True)
    assert paths(judge("ontology-count", declared, SAILORS, [(BOB, "SAILS", GULL, {})])) == ["ann.md"]


def test_a_node_of_the_domain_has_no_more_and_no_fewer_than_declared(judge):
    rows = [(ANN, "SAILS", GULL, {}), (BOB, "SAILS", GULL, {}), (BOB, "SAILS", TERN, {}), (ROCK, "SAILS", TERN, {})]
    most = judge("ontology-count", crewed(domain="Person", most=1), SAILORS, rows)
    assert most == [("bob.md", None, "relationship SAILS: 2 from this node, but there must be at most 1.")]
    least = judge("ontology-count", crewed(domain="Person", least=2), SAILORS, rows)
    assert least == [("ann.md", None, "relationship SAILS: 1 from this node, but there must be at least 2.")]
    assert paths(judge("ontology-count", crewed(least=2), SAILORS, rows)) == ["ann.md", "rock.md"]


def test_a_missing_required_relationship_is_said_once(judge):
    assert paths(judge("ontology-count", crewed(domain="Boat", required=True, least=1), SAILORS)) == [
        "gull.md",
        "tern.md",
    ]


def test_distinct_relationships_are_not_repeated(judge):
    rows = [
        (ANN, "SAILS", GULL, {"line": 1, "role": "cook"}),
        (ANN, "SAILS", GULL, {"line": 2, "role": "mate"}),
        (ANN, "SAILS", GULL, {"line": 3, "role": "cook"}),
        (BOB, "SAILS", GULL, {"line": 4}),
        (BOB, "SAILS", GULL, {"line": 5}),
    ]
    assert [(path, line) for path, line, _ in judge("ontology-count", crewed(distinct=()), SAILORS, rows)] == [
        ("ann.md", 2),
        ("ann.md", 3),
        ("bob.md", 5),
    ]
    found = judge("ontology-count", crewed(distinct=("role", "none")), SAILORS, rows)
    assert [(path, line) for path, line, _ in found] == [("ann.md", 3), ("bob.md", 5)]
    exempt = crewed(distinct=("role",), exempt={"distinct": ("Guest",)})
    assert [(path, line) for path, line, _ in judge("ontology-count", exempt, SAILORS, rows)] == [("ann.md", 3)]


def test_an_integer_and_an_equal_float_are_the_same_for_distinct(judge):
    rows = [(ANN, "SAILS", GULL, {"n": 1}), (ANN, "SAILS", GULL, {"n": 1.0}), (ANN, "SAILS", GULL, {"n": 1.5})]
    assert len(judge("ontology-count", crewed(distinct=("n",)), SAILORS, rows)) == 1


def test_a_symmetric_relationship_leads_back(judge):
    rows = [
        (ANN, "SAILS", BOB, {}),
        (BOB, "SAILS", ANN, {}),
        (ANN, "SAILS", GULL, {"line": 7}),
        (ANN, "SAILS", GULL, {"line": 8}),
        (ROCK, "SAILS", ROCK, {}),
    ]
    assert judge("ontology-pair", crewed(symmetric=True), SAILORS, rows) == [
        ("ann.md", 7, "relationship SAILS: the one to 'gull.md' needs one that leads back, as the type is symmetric.")
    ]


def test_an_enforced_inverse_leads_back(judge):
    rows = [(ANN, "SAILS", GULL, {}), (BOB, "SAILS", GULL, {}), (GULL, "SAILED_BY", ANN, {})]
    assert paths(judge("ontology-pair", crewed(inverse_name="SAILED_BY", inverse_enforced=True), SAILORS, rows)) == [
        "bob.md"
    ]
    assert judge("ontology-pair", crewed(inverse_name="SAILED_BY"), SAILORS, rows) == []
    nothing = crewed(inverse_name="OTHER", inverse_enforced=True)
    assert paths(judge("ontology-pair", nothing, SAILORS, rows)) == ["ann.md", "bob.md"]


def test_a_transitive_relationship_has_every_way_round_straight(judge):
    rows = [
        (ANN, "SAILS", BOB, {"line": 1}),
        (BOB, "SAILS", ROCK, {"line": 2}),
        (ANN, "SAILS", GULL, {"line": 3}),
        (GULL, "SAILS", ROCK, {"line": 4}),
        (ROCK, "SAILS", ANN, {"line": 5}),
        (BOB, "SAILS", ANN, {"line": 6}),
    ]
    found = judge("ontology-pair", crewed(transitive=True), SAILORS, rows)
    assert [(path, line) for path, line, _ in found] == [
        ("ann.md", 1),  # to rock, by bob and by gull: said once
        ("bob.md", 6),  # to gull, by ann
        ("gull.md", 4),  # to ann, by rock
        ("rock.md", 5),  # to bob, by ann
        ("rock.md", 5),  # to gull, by ann
    ]


def test_a_search_for_ways_round_is_bounded_and_says_so(judge, monkeypatch):
    monkeypatch.setattr(ontology_relationships, "MOST_CHAINS", 1)
    rows = [(ANN, "SAILS", BOB, {}), (BOB, "SAILS", ROCK, {}), (ROCK, "SAILS", GULL, {})]
    declared = Ontology(relationships={"SAILS": RelationshipClass(transitive=True, enforcement="advisory")})
    found = judge("ontology-pair", declared, SAILORS, rows, severity="info")
    assert paths(found) == [".kglite/vault.yaml", "ann.md"]
    assert "only the first" in found[0][2]


def test_relationships_have_contracts_of_their_own_and_by_source(judge):
    rows = [
        (ANN, "SAILS", GULL, {"since": 1990, "line": 1}),
        (ANN, "SAILS", TERN, {"line": 2}),
        (BOB, "SAILS", GULL, {"since": "long", "line": 3}),
    ]
    contract = Contract(("since",), {"since": "integer"}, {"since": ValueRule(least=2000)})
    declared = crewed(contract=contract, by_source={"Guest": Contract(("until",))})
    assert [one[:2] for one in judge("ontology-property", declared, SAILORS, rows)] == [("ann.md", 2), ("bob.md", 3)]
    assert [one[:2] for one in judge("ontology-type", declared, SAILORS, rows)] == [("bob.md", 3)]
    assert [one[:2] for one in judge("ontology-value", declared, SAILORS, rows)] == [("ann.md", 1)]
    exempt = crewed(contract=contract, exempt={"property_types": ("Person",)})
    assert judge("ontology-type", exempt, SAILORS, rows) == []


def test_what_nothing_is_of_is_said_once(judge):
    declared = Ontology(
        classes={"Boat": Class(), "Ship": Class(abstract=True), "Thing": Class(), "Place": Class(is_a="Thing")},
        relationships={"SAILS": RelationshipClass(range="Boat"), "OWNS": RelationshipClass()},
    )
    found = judge("unused-class", declared, SAILORS, [(ANN, "SAILS", GULL, {})], severity="info")
    assert [(path, message.split(":")[0]) for path, _, message in found] == [
        (".kglite/vault.yaml", "class Ship"),
        (".kglite/vault.yaml", "relationship OWNS"),
    ]


def test_a_declared_property_that_nothing_has_is_an_info(judge):
    declared = of_class(Contract(("length",), {"lenght": "integer"}, {"rgi": ValueRule(least=1)}))
    found = judge("unused-rule", declared, [note("a", "Boat", length=1)], severity="info")
    assert [message for _, _, message in found] == [
        "class Boat: nothing has the property 'lenght'. Check the spelling.",
        "class Boat: nothing has the property 'rgi'. Check the spelling.",
    ]


def test_required_without_a_domain_says_that_it_does_nothing(judge):
    found = judge("unused-rule", crewed(required=True), SAILORS, [(ANN, "SAILS", GULL, {})], severity="info")
    assert paths(found) == [".kglite/vault.yaml"]


def test_a_part_of_a_note_is_shown_at_its_line_in_the_note(judge):
    part = (("Section",), {"id": "a#B", "note_id": "a", "line": 12})
    tag = (("Section", "x"), {"id": "loose"})
    declared = Ontology(classes={"Section": Class(contract=Contract(("level",)))})
    found = judge("ontology-property", declared, [note("a", "Boat"), part, tag])
    assert [one[:2] for one in found] == [("a.md", 12), ("loose", None)]


def test_violations_are_listed_up_to_a_bound(make_graph, monkeypatch):
    monkeypatch.setattr(ontology, "MOST_ROWS", 3)
    graph = make_graph([note(f"n{at}", "Boat") for at in range(2)], [])
    found = violations(graph, Profile(ontology=of_class(Contract(tuple("abcdefgh")))))
    assert found["path"].to_list() == ["n0.md", "n1.md", "n0.md", ".kglite/vault.yaml"]
    assert "more than 3 violations" in found["message"][3]
    exactly = violations(graph, Profile(ontology=of_class(Contract(("a",)))))
    assert exactly.height == 2


def test_a_vault_is_built_with_its_violations(build):
    declared = Ontology(classes={"Boat": Class(contract=Contract(("length",)))})
    found = build({"a.md": {"props": {"type": "Boat"}}, "b.md": {}}, Profile(ontology=declared))
    assert found.problems("ontology-property") == [("a.md", None)]
