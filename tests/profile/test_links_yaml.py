"""The keys about relationships and labels: hubs, tags, headings, defaults, exports, types, indexes, search."""

import math

import pytest

from vaultgraph.profile.settings import Hub, Profile, TagLabel


def test_tags_below_a_prefix_have_a_label_and_a_type(load):
    text = 'tag_labels:\n  "Intent/*": {label: Intent, edge: HAS INTENT}\n  "#GROSS/straße/*": {label: A, edge: B}\n'
    assert load(text) == Profile(
        tag_labels={"intent": TagLabel("Intent", "HAS INTENT"), "gross/strasse": TagLabel("A", "B")}
    )


def test_prefixes_of_tags_are_compared_composed(load):
    assert load('tag_labels: {"e\\u0301te\\u0301/*": {label: A, edge: B}}\n').tag_labels == {"été": TagLabel("A", "B")}


def test_a_hub_without_label_or_type_makes_tags(load):
    assert load("hubs: {topic: {}, author: {label: Person}}\n").hubs == {
        "topic": Hub("Tag", "TAGGED"),
        "author": Hub("Person", "TAGGED"),
    }


def test_default_values_are_typed_by_the_core_schema(load):
    text = """
edge_defaults:
  LINKS_TO:
    a: 1
    b: -7
    c: 0x10
    d: 0o17
    e: 007
    f: 1.5
    g: 1e3
    h: .5
    i: -.inf
    j: true
    k: yes
    l: 2020-01-01
    m: "1"
    n: 1_000
    o: 12:30:45
    p: " two words "
    q: ''
  CITES: {}
"""
    defaults = load(text).edge_defaults
    numbers = {"a": 1, "b": -7, "c": 16, "d": 15, "e": 7, "f": 1.5, "g": 1000.0, "h": 0.5, "i": -math.inf}
    texts = {"k": "yes", "l": "2020-01-01", "m": "1", "n": "1_000", "o": "12:30:45", "p": " two words ", "q": ""}
    assert defaults == {"LINKS_TO": {**numbers, "j": True, **texts}, "CITES": {}}
    assert [type(value) for value in defaults["LINKS_TO"].values()] == [int] * 5 + [float] * 4 + [bool] + [str] * 7


def test_a_default_that_is_no_number_is_a_float(load):
    assert math.isnan(load("edge_defaults: {T: {a: .nan}}\n").edge_defaults["T"]["a"])


def test_an_export_writes_types_into_tables_below_headings(load):
    assert load("export: {edge_tables: {WORKED_AT: Worked at, CITES: Sources}}\n").edge_tables == {
        "WORKED_AT": "Worked at",
        "CITES": "Sources",
    }
    assert load("export: {}\n") == load("export: {edge_tables: }\n") == Profile()


def test_indexes_name_properties_each_once(load):
    text = "indexes: {Book: [isbn, {range: year}, {composite: [author, year]}], Log: []}\n"
    assert load(text).indexes == {"Book": ("isbn", "year", "author"), "Log": ()}


def test_search_is_declared_by_label(load):
    profile = load("text_indexes: {Book: [title, body, title]}\nembed: {Book: summary}\nbody: ''\n")
    assert (profile.text_indexes, profile.embed, profile.body) == ({"Book": ("title", "body")}, {"Book": "summary"}, "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tag_labels: [a]", "`tag_labels` must be a mapping, not a list."),
        ("tag_labels: {'a/*': {label: A}}", "`tag_labels.a/*` needs `edge:`. Accepted here: label, edge."),
        ("tag_labels: {'a/*': {edge: A, label: }}", "`tag_labels.a/*` needs `label:`. Accepted here: label, edge."),
        ("tag_labels: {'a/*': }", "`tag_labels.a/*` needs `label:`. Accepted here: label, edge."),
        ("tag_labels: {'a/*': X}", "`tag_labels.a/*` must be a mapping, not a string (`X`)."),
        ("tag_labels: {'a/*': {x: 1}}", "`tag_labels.a/*.x` is not a known key. Accepted here: label, edge."),
        *(
            (
                f"tag_labels: {{'{pattern}': {{label: A, edge: B}}}}",
                f"`tag_labels.{pattern}` is no pattern for tags; write `<prefix>/*`, like `topic/*`.",
            )
            for pattern in ("a", "*", "/*", "a*/*", "a/*/b", "a/", "#/*")
        ),
        (
            "tag_labels: {'a/*': {label: A, edge: B}, 'A/*': {label: A, edge: B}}",
            "`tag_labels.A/*` is there already in other letter case. Keep one of them.",
        ),
        ("tag_labels: {'a/*': {label: '', edge: B}}", "`tag_labels.a/*.label` must not be empty."),
        ("hubs: {a: {edge: ' '}}", "`hubs.a.edge` must not be empty."),
        ("hubs: {'': {}}", "`hubs.` is a key that must not be empty."),
        (r'hubs: {"a\tb": {}}', r"`hubs.a\tb` is a key that must not hold line breaks or control characters."),
        ("hubs: {a: {}, ' a': {}}", "`hubs. a` is written twice. Keep one of them."),
        (r'heading_edges: {A: "X\u2028Y"}', "`heading_edges.A` must not hold line breaks or control characters."),
        ("heading_edges: {A: ''}", "`heading_edges.A` must not be empty."),
        ("edge_defaults: {T: 1}", "`edge_defaults.T` must be a mapping, not an integer (`1`)."),
        (
            "edge_defaults: {T: {a: [1]}}",
            "`edge_defaults.T.a` must be a string, a number, true or false, not a list.",
        ),
        ("edge_defaults: {T: {a: }}", "`edge_defaults.T.a` must be a string, a number, true or false, not nothing."),
        ("edge_defaults: {'': {a: 1}}", "`edge_defaults.` is a key that must not be empty."),
        ("edge_defaults: {T: {'': 1}}", "`edge_defaults.T.` is a key that must not be empty."),
        (f"edge_defaults: {{T: {{a: {'9' * 19}}}}}", "`edge_defaults.T.a` is too large a number."),
        ("export: true", "`export` must be a mapping, not a boolean (`true`)."),
        ("export: {tables: {}}", "`export.tables` is not a known key. Accepted here: edge_tables."),
        (
            "export: {edge_tables: {T: 1}}",
            "`export.edge_tables.T` must be a string, not an integer (`1`). Put it in quotes to mean text.",
        ),
        ("export: {edge_tables: {T: ''}}", "`export.edge_tables.T` must not be empty."),
        ("types: {'': {a: int}}", "`types.` is a key that must not be empty."),
        (
            "types: {A: {x: integer}}",
            "`types.A.x` is `integer`; use one of string, int, float, bool, date, datetime, list.",
        ),
        ("indexes: {N: a}", "`indexes.N` must be a list of indexes, not a string (`a`)."),
        (
            "indexes: {N: [1]}",
            "`indexes.N[0]` must be a property, `{range: property}` or `{composite: [property, property]}`.",
        ),
        ("indexes: {N: [{unique: a}]}", "`indexes.N[0].unique` is not a known key. Accepted here: range, composite."),
        (
            "indexes: {N: [{range: a, composite: [a, b]}]}",
            "`indexes.N[0]` must have one key. Accepted here: range, composite.",
        ),
        ("indexes: {N: [{composite: [a]}]}", "`indexes.N[0].composite` needs two properties or more."),
        ("text_indexes: {N: a}", "`text_indexes.N` must be a list of strings, not a string (`a`)."),
        ("embed: {N: [a]}", "`embed.N` must be a string, not a list."),
        ("embed: {N: }", "`embed.N` must be a string, not nothing. Put it in quotes to mean text."),
        ("body: [a]", "`body` must be a string, not a list."),
        (r'default_label: "a\nb"', "`default_label` must not hold line breaks or control characters."),
        ("folder_notes: {edge: ''}", "`folder_notes.edge` must not be empty."),
    ],
)
def test_a_wrong_value_is_refused_in_words(refused_words, text, words):
    assert refused_words(f"{text}\n") == f"2: {words}"
