"""Cells are short to read and never ambiguous."""

import json
from datetime import UTC, date, datetime

import pytest

from vaultgraph.cypher.values import Node, Path, Relationship
from vaultgraph.serve.cells import csv_cell, json_cell, text_cell

NOTE = Node(
    7,
    ("Person", "Note"),
    {
        "path": "People/Ada L.md",
        "file_path": "People/Ada L.md",
        "id": "Ada L",
        "stem": "Ada L",
        "title": "Ada Lovelace",
        "body": "x" * 5000,
        "born": date(1815, 12, 10),
        "tags": ["maths", "engine"],
        "biography": "long " * 50,
        "size_bytes": 5100,
    },
)
OTHER = Node(8, ("Tag",), {"id": "maths", "title": "maths"})


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (3, "3"),
        (0.5, "0.5"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        ("Plain text, with commas", "Plain text, with commas"),
        ("", '""'),
        (" padded", '" padded"'),
        ("two\nlines", '"two\\nlines"'),
        ("tab\there", '"tab\\there"'),
        ("null", '"null"'),
        ("nullify", "nullify"),
        ("12", '"12"'),
        ("1 May", "1 May"),
        ("404.md", "404.md"),
        ("007 James", "007 James"),
        ("1,234", '"1,234"'),
        ("1e5", '"1e5"'),
        ("10:30", '"10:30"'),
        ("-inf", '"-inf"'),
        ("Infinite", "Infinite"),
        ("P7D", '"P7D"'),
        ("P-1D", '"P-1D"'),
        ("P2P network", "P2P network"),
        ("3 rows · gen 1", '"3 rows · gen 1"'),
        ("warning: no", '"warning: no"'),
        ("2026-01-15", '"2026-01-15"'),
        ("[[Link]]", '"[[Link]]"'),
        ("(:Note)", '"(:Note)"'),
        ('"quoted"', '"\\"quoted\\""'),
        ('say "hi"', 'say "hi"'),
        ("line\u2028separator", '"line\\u2028separator"'),
        ("ウミウシ ☕", "ウミウシ ☕"),
        (date(2026, 1, 15), "2026-01-15"),
        (datetime(2026, 1, 15, 10, 30), "2026-01-15T10:30:00"),
        (datetime(2026, 1, 15, 10, 30, tzinfo=UTC), "2026-01-15T10:30:00Z"),
        (["a", 1, None, date(2026, 1, 1)], '["a", 1, null, 2026-01-01]'),
        ({"k": "v", "n": [1]}, '{k: "v", n: [1]}'),
        (OTHER, "(:Tag maths)"),
    ],
)
def test_a_value_is_quoted_only_where_it_could_be_taken_for_another(value, shown):
    assert text_cell(value) == shown


def test_a_node_shows_labels_key_title_and_short_properties_only():
    assert text_cell(NOTE) == (
        '(:Person:Note "People/Ada L.md" "Ada Lovelace" {born: 1815-12-10, tags: ["maths", "engine"], …})'
    )


def test_a_path_shows_the_direction_of_each_relationship():
    path = Path(
        (NOTE, OTHER, NOTE),
        (Relationship(1, "TAGGED", 7, 8, {"line": 3}), Relationship(2, "TAGGED", 7, 8, {})),
    )
    assert text_cell(path).count("-[:TAGGED {line: 3}]->(:Tag maths)<-[:TAGGED]-(:Person") == 1


def test_a_long_cell_is_cut_with_its_length():
    assert text_cell("x" * 1000, 10) == '"xxxxxxxxxx"… (1,000 characters)'
    assert json_cell("x" * 1000, 10) == "xxxxxxxxxx… (1,000 characters)"


def test_a_node_as_json_keeps_its_properties_but_the_body():
    data = json_cell(NOTE)
    assert data["labels"] == ["Person", "Note"]
    assert data["properties"]["born"] == "1815-12-10"
    assert data["properties"]["biography"].startswith("long long")
    assert "body" not in data["properties"]
    json.dumps(data)


@pytest.mark.parametrize(
    ("value", "field"),
    [(None, ""), ("12", "12"), (True, "true"), (["a", "b"], '["a","b"]'), (date(2026, 1, 2), "2026-01-02")],
)
def test_a_csv_field_holds_text_as_it_is(value, field):
    assert csv_cell(value) == field


def test_names_of_labels_types_and_keys_take_one_line():
    odd = "a\nb\t\x1b\u202e"
    shown = "a\\nb\\t\\u001b\\u202e"
    assert text_cell(Relationship(1, odd, 7, 8, {odd: 3})) == f"[:{shown} {{{shown}: 3}}]"
    assert text_cell(Node(7, (odd,), {"path": "a.md", odd: 3})) == f"(:{shown} a.md {{{shown}: 3}})"
    assert text_cell([{odd: {odd: odd}}]) == f'[{{{shown}: {{{shown}: "{shown}"}}}}]'
