"""Binding: warnings for names the graph does not have."""

import pytest

from vaultgraph.cypher.bind import bind
from vaultgraph.cypher.clauses import parse


class Geology:
    """A small vault: two labels, two types."""

    labels = frozenset({"Note", "Geology", "People"})
    relationship_types = frozenset({"LINKS_TO", "EMBEDS"})

    def property_keys(self, label: str | None, /) -> frozenset[str]:
        keys = {
            "Note": frozenset({"title", "path"}),
            "Geology": frozenset({"title", "age_ma"}),
            "People": frozenset({"title", "born"}),
        }
        return frozenset[str]().union(*keys.values()) if label is None else keys[label]

    def relationship_property_keys(self, type_name: str | None, /) -> frozenset[str]:
        return frozenset({"line"}) if type_name in (None, "LINKS_TO") else frozenset()


def warnings(text: str) -> list[str]:
    return list(bind(parse(text), text, Geology(), {}).warnings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MATCH (n:Geolgy) RETURN n", "No node has the label 'Geolgy'. Did you mean 'Geology'?"),
        ("MATCH (n:note) RETURN n", "No node has the label 'note'. Did you mean 'Note'?"),
        ("MATCH (n:!Xyz) RETURN n", "No node has the label 'Xyz'. Labels there are: Geology, Note, People."),
        ("MATCH (n) WHERE n:Peple RETURN n", "No node has the label 'Peple'. Did you mean 'People'?"),
        ("MATCH ()-[:LINK_TO]->() RETURN 1", "No relationship has the type 'LINK_TO'. Did you mean 'LINKS_TO'?"),
        ("MATCH ()-[r]->() WHERE r:EMBED RETURN 1", "No relationship has the type 'EMBED'. Did you mean 'EMBEDS'?"),
        ("MATCH (n:Geology) RETURN n.titel", "No Geology node has the property 'titel'. Did you mean 'title'?"),
        ("MATCH (n:Geology {agema: 1}) RETURN n", "No Geology node has the property 'agema'. Did you mean 'age_ma'?"),
        (
            "MATCH (n:Geology|People) WHERE n.path = 'a' RETURN n",
            "No Geology or People node has the property 'path'. Properties there are: age_ma, born, title.",
        ),
        ("MATCH (n) RETURN n.titel", "No node has the property 'titel'. Did you mean 'title'?"),
        ("MATCH (n:People) WITH n AS m RETURN m.age_ma", "No People node has the property 'age_ma'."),
        (
            "MATCH (n:People) WITH collect(n) AS ns UNWIND ns AS m RETURN m.bron",
            "No People node has the property 'bron'.",
        ),
        ("MATCH (n:People) RETURN n {.bron}", "No People node has the property 'bron'."),
        ("MATCH ()-[r:LINKS_TO]->() RETURN r.lin", "No LINKS_TO relationship has the property 'lin'."),
        ("MATCH ()-[r:EMBEDS]->() RETURN r.line", "No EMBEDS relationship has the property 'line'."),
        ("MATCH p = (:People)-->() RETURN [x IN nodes(p) | x.titel]", "No node has the property 'titel'."),
        ("MATCH ()-[:!EMBED]->() RETURN 1", "No relationship has the type 'EMBED'. Did you mean 'EMBEDS'?"),
        (
            "MATCH (n:People) CALL (n) { RETURN n.bron AS b } RETURN b",
            "No People node has the property 'bron'.",
        ),
        (
            "MATCH (n) CALL { MATCH (m:People) RETURN m } RETURN m.bron",
            "No People node has the property 'bron'.",
        ),
        (
            "MATCH (n) WHERE EXISTS { MATCH (n)-->(m:Peple) RETURN m LIMIT 1 } RETURN n",
            "No node has the label 'Peple'. Did you mean 'People'?",
        ),
        ("MATCH ()-[LINKS_TO]->() RETURN 1", "'LINKS_TO' is a variable here and matches anything: for the type write"),
        ("MATCH (Note) RETURN 1", "'Note' is a variable here and matches anything: for the label write (:Note)."),
    ],
)
def test_an_unknown_name_gives_one_warning(text, expected):
    found = warnings(text)
    assert len(found) == 1
    assert found[0].startswith(expected)


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (n:Geology) RETURN n.title, n.age_ma",
        "MATCH (n:Note:Geology) RETURN n.path, n.age_ma",
        "MATCH (n:Geology|People) RETURN n.age_ma, n.born",
        "MATCH (n:!Note) RETURN n.path",
        "MATCH (n) WHERE n:People RETURN n.age_ma",
        "MATCH ()-[r:EMBEDS|LINKS_TO]->() RETURN r.line",
        "UNWIND [{titel: 1}] AS m RETURN m.titel",
        "MATCH (n) WITH properties(n) AS m RETURN m.titel",
    ],
)
def test_known_names_and_maps_give_none(text):
    assert warnings(text) == []


def test_an_unknown_label_does_not_also_warn_about_properties():
    assert len(warnings("MATCH (n:Geolgy) WHERE n.titel = 'a' RETURN n.foo")) == 1


def test_a_warning_comes_once():
    assert len(warnings("MATCH (n:Note) WHERE n.titel = 'a' RETURN n.titel ORDER BY n.titel")) == 1


def test_without_a_schema_there_are_no_warnings():
    text = "MATCH (n:Nowhere) RETURN n.nothing"
    assert bind(parse(text), text, None, {}).warnings == ()
