"""Properties, labels and types may be called as anything: also as a column of the tables that answers are made with."""

import pytest

NAMES = (
    "times",
    "value",
    "count",
    "counts",
    "index",
    "literal",
    "len",
    "row",
    "rows",
    "id",
    "text",
    "kind",
    "number",
    "path",
    "severity",
    "code",
    "*",
    "^.*$",
    "a]b",
    "a`b",
    'say "a"',
    "it's",
    "a.b",
    "$x",
    "{x}",
    "%s",
    "ウミウシ",
)


def note(name):
    key = name.replace("'", "''")
    return (
        f"---\ntype: '{key}'\n'{key} ': a\n'{key}': ['[[Target]]', x]\n'mixed {key}': 1\n'': 1\n---\n"
        f"[[Target]]\n\n## {name}\n\n[[Target]]\n"
    )


@pytest.fixture
def vault(local, write):
    files = {f"N{at}.md": note(name) for at, name in enumerate(NAMES)}
    return local(write({**files, "Target.md": "---\ntimes: 3\ncount: [1, 2]\n'':\n  value: x\n---\n# T\n"}))


def test_the_overview_answers_whatever_names_the_vault_has(vault):
    assert "28 notes" in vault.text("graph_overview")
    everything = vault.text("graph_overview", types=["Note"], _response={"mode": "full"})
    for name in ("times", "index", "len", "`*`", "`a]b`", "`a``b`"):
        assert f"\n  {name} " in everything
    assert vault.text("graph_overview", connections=True)
    assert vault.text("graph_overview", problems=True)


def test_every_label_and_type_can_be_asked_for_by_the_name_it_has(vault):
    labels = vault.call("cypher_query", query="CALL db.labels()", format="json").structured["rows"]
    types = vault.call("cypher_query", query="CALL db.relationshipTypes()", format="json").structured["rows"]
    assert len(labels) > len(NAMES) - 5
    assert len(types) > 10
    for (label,) in labels:
        vault.text("graph_overview", types=[label])
    for (name,) in types:
        vault.text("graph_overview", connections=[name])


def test_a_name_that_is_unknown_is_an_error_of_the_caller(vault):
    for name in (*NAMES, "", "\n", "x" * 5000):
        for argument in ("types", "connections", "cypher"):
            assert vault.error("graph_overview", **{argument: [f"{name} no"]}).startswith("parameter: ")


def test_the_most_frequent_samples_come_first_and_lists_look_like_lists(local, write):
    files = {f"N{at}.md": f"---\ntimes: {value}\n---\n" for at, value in enumerate(["b", "[x, y]", "b", "3", "[x, y]"])}
    text = local(write(files)).text("graph_overview", types=["Note"])
    assert '\n  times STRING | INTEGER | LIST 100 %: b, ["x", "y"], 3' in text


def test_the_items_of_lists_are_said_to_be_items(local, write):
    files = {f"N{at}.md": f"---\nvalue: {value}\n---\n" for at, value in enumerate(["[y, x]", "[x]"])}
    text = local(write(files)).text("graph_overview", types=["Note"])
    assert "\n  value LIST<STRING> 100 %, items: x, y" in text
