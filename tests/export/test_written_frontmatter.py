"""Frontmatter written from cells states the same cells again, whatever they hold."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.export.frontmatter import front_text
from vaultgraph.export.notes import note_bytes, stated_keys
from vaultgraph.note.read import read_notes
from vaultgraph.note.records import ValueKind

AWKWARD = [
    "yes", "null", "~", "007", "1e3", "0x1F", "2026-05-01", "2026-05-01T09:30", ".inf", "---", "{{date}}", "[[Ada]]",
    "a: b", "a #b", "", " ", "\\ud83d\\ude00", "x\ny\n", "  two\n\nlines", "true", "- a", "a:",
]  # fmt: skip
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.text("ab:# -[]{}'\"\\\n|>&*!%@`,?~.u0d8\t\r", max_size=12),
    st.sampled_from(AWKWARD),
)
INTEGERS = st.integers(-(2**63), 2**63 - 1)
JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), INTEGERS, st.floats(allow_nan=False, allow_infinity=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
).filter(lambda value: isinstance(value, list | dict))
DAYS = st.integers(-719_162, 2_932_896)
MICROS = st.integers(-719_162 * 86_400_000_000, 2_932_897 * 86_400_000_000 - 1)
SCALARS = st.one_of(
    TEXTS.map(lambda text: (ValueKind.TEXT, None, None, text)),
    INTEGERS.map(lambda number: (ValueKind.INTEGER, number, None, None)),
    st.floats(allow_nan=False).map(lambda real: (ValueKind.FLOAT, None, real, None)),
    st.booleans().map(lambda flag: (ValueKind.BOOLEAN, int(flag), None, None)),
    DAYS.map(lambda number: (ValueKind.DATE, number, None, None)),
    MICROS.map(lambda number: (ValueKind.LOCAL_DATETIME, number, None, None)),
    MICROS.map(lambda number: (ValueKind.UTC_DATETIME, number, None, None)),
)
ITEMS = st.one_of(SCALARS, JSON_VALUES.map(lambda v: (ValueKind.JSON, None, None, json.dumps(v, ensure_ascii=False))))
CELLS = st.one_of(
    SCALARS.map(lambda scalar: [(-1, *scalar)]),
    st.just([(-1, ValueKind.EMPTY_LIST, None, None, None)]),
    st.lists(ITEMS, min_size=1, max_size=4).map(lambda items: [(at, *item) for at, item in enumerate(items)]),
)
KEYS = st.one_of(st.text("abc._ é", min_size=1, max_size=8), TEXTS)


@st.composite
def fronts(draw):
    keys = draw(st.lists(KEYS, unique=True, max_size=6))
    line, rows = 1, []
    for key in keys:
        line += draw(st.integers(0 if line > 1 else 1, 4))
        rows += [(key, line, cell) for cell in draw(CELLS)]
    return rows, line + draw(st.integers(2, 6))


@settings(max_examples=200, deadline=None)
@given(fronts(), st.sampled_from(["", "text\n", "---\nx\n---\n", "a\r\nb"]))
def test_cells_read_back_as_they_were(front, body):
    rows, body_line = front
    text = front_text(list(stated_keys(rows)), body_line, {})
    records = read_notes(["n.md"], [note_bytes(text, body, body_line=body_line)])
    assert records.problems.filter(records.problems["code"] == "bad-frontmatter").height == 0
    found = list(records.properties.select("key", "ordinal", "kind", "number", "real", "text").iter_rows())
    assert found == [(key, *cell) for key, _, cell in rows]
    assert records.notes["body"][0] == body


@pytest.mark.parametrize(
    ("yaml", "same"),
    [
        ("title: Tides\nrating: 4\n", True),
        ("tags: [sea, tides]\ndone: true\n", True),
        ("tags:\n  - sea\n  - tides\nread: 2026-05-01\n", True),
        ("title: 007\nname: x\n", True),
        ("tide:\n  high: 4.6\n  low: 0.5\n", True),
        ("when: 2026-05-01T09:30:00Z\nempty: []\n", True),
        ("a: yes\nb: 'null'\n", False),  # other quotes
    ],
)
def test_usual_frontmatter_is_written_as_its_author_wrote_it(yaml, same):
    note = f"---\n{yaml}---\n# Body\n".encode()
    records = read_notes(["n.md"], [note])
    rows = [(key, line, tuple(cell)) for _, key, *cell, line in records.properties.iter_rows()]
    front = front_text(list(stated_keys(rows)), records.notes["body_line"][0], {"title": records.notes["title"]})
    written = note_bytes(front, records.notes["body"][0])
    assert (written == note) is same
    assert read_notes(["n.md"], [written]).properties.equals(records.properties)


def test_lines_stay_where_comments_and_empty_keys_were():
    note = b"---\n# remark\na: 1\nempty:\nb: [x]\nlong: one\n  two\n---\n[[T]]\n"
    records = read_notes(["n.md"], [note])
    rows = [(key, line, tuple(cell)) for _, key, *cell, line in records.properties.iter_rows()]
    front = front_text(list(stated_keys(rows)), records.notes["body_line"][0], {})
    again = read_notes(["n.md"], [note_bytes(front, records.notes["body"][0])])
    assert again.properties["line"].to_list() == records.properties["line"].to_list() == [3, 5, 6]
    assert again.links["line"].to_list() == [9]


def test_a_made_up_line_far_away_costs_no_memory():
    rows = [("a", 2_000_000_000, (-1, ValueKind.INTEGER, 1, None, None))]
    assert front_text(list(stated_keys(rows)), 2_100_000_000, {}) == "---\na: 1\n---\n"
