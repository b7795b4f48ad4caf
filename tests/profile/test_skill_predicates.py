"""`applies_when:` of a skill: what is taken as written, and what is a problem."""

import pytest

from vaultgraph.profile.guidance import read_guidance


def read(stated: str):
    text = f"---\nname: a\ndescription: b\napplies_when: {stated}\n---\nText.\n"
    return read_guidance({".kglite/skills/a.md": text.encode()})


@pytest.mark.parametrize(
    ("stated", "value"),
    [
        ("", None),
        ("{}", {}),
        ("{graph_has_node_type: Boat}", {"graph_has_node_type": "Boat"}),
        ("{graph_has_node_type: [Boat, Car]}", {"graph_has_node_type": ["Boat", "Car"]}),
        (
            "{graph_has_property: {node_type: Boat, prop_name: length}}",
            {"graph_has_property": {"node_type": "Boat", "prop_name": "length"}},
        ),
        ("{tool_registered: grep}", {"tool_registered": "grep"}),
    ],
)
def test_known_predicates_are_kept_as_written(stated, value):
    [skill] = read(stated).skills
    assert skill.applies_when == value


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ("[a]", "applies_when"),
        ("{moon_is_full: true}", "graph_has_node_type"),
        ("{graph_has_property: {node_type: Boat}}", "needs `node_type:` and `prop_name:`"),
        ("{graph_has_property: [Boat, length]}", "graph_has_property"),
        ("{tool_registered: {a: 1}}", "tool_registered"),
    ],
)
def test_anything_else_is_a_problem_of_its_file(stated, words):
    found = read(stated)
    assert found.skills == ()
    [(path, line, code, severity, message)] = found.problems
    assert (path, line, code, severity) == (".kglite/skills/a.md", 4, "bad-skill", "warning")
    assert words in message
