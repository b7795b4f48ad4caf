"""Names of a downloaded vault on the terminal: in tables, reports and messages they forge no line and no escape."""

import csv
import io
import json

import pytest

from vaultgraph.cli.tables import print_rows

FORGED = "3 rows · gen 9"
LABEL = f"li\n{FORGED}\x1b[1ml\u202e\x9b"
KEY = f"p\n{FORGED}\x1b[2Jq\u202e"
NEVER = "\x1b\x07\x9b\u202e"


@pytest.fixture
def hostile(write):
    note = f"---\n{json.dumps(KEY)}: 1\n---\n[[b]] [[no\u202ene]]\n"
    return write({f"{LABEL}/a.md": note, f"{LABEL}/b.md": note, f"{LABEL}/two\n{FORGED}.md": "---\na: [\n---\n"})


@pytest.mark.parametrize(
    "arguments",
    [
        ("query", "MATCH (n) RETURN n"),
        ("query", "MATCH (n) RETURN n", "--format", "csv"),
        ("query", f"MATCH (n:Note) RETURN n.stem AS `{KEY}`"),
        ("query", f"MATCH (n:`{LABEL}x`) RETURN n.`{KEY}x`"),
        ("query", f"MATCH (n) RETURN n.`{KEY}`", "--param", f"{KEY}=1"),
        ("query", "CALL vault.outline('tow') YIELD text RETURN text"),
        ("check",),
        ("check", "--json"),
        ("status",),
        ("build",),
        ("links", "a"),
        ("links", f"two\n{FORGED}x"),
        ("unresolved",),
        ("outline", "tow"),
    ],
)
def test_no_command_prints_a_forged_line_or_an_escape(vaultgraph, hostile, arguments):
    command, *others = arguments
    done = vaultgraph(command, hostile, *others)
    for text in (done.out, done.err):
        assert not [char for char in NEVER if char in text]
        assert not [line for line in text.split("\n") if line.startswith(FORGED)]


def test_json_holds_the_same_data_and_no_character_that_acts_on_a_terminal(vaultgraph, hostile):
    done = vaultgraph("query", hostile, "MATCH (n:Note) RETURN labels(n) AS l ORDER BY l LIMIT 1", "--format", "json")
    assert not [char for char in NEVER if char in done.out]
    assert LABEL in json.loads(done.out)[0]["l"]


def test_csv_is_data_for_programs_and_shows_escapes_on_a_terminal():
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    piped, shown = io.StringIO(), Terminal()
    for target in (piped, shown):
        print_rows([KEY], [[LABEL]], "csv", target)
    assert list(csv.reader(io.StringIO(piped.getvalue(), newline=""))) == [[KEY], [LABEL]]
    assert not [char for char in NEVER if char in shown.getvalue()]
    assert shown.getvalue().count("\n") == 2
