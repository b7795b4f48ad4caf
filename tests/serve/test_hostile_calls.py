"""Answers to hostile arguments and to vaults with hostile names: small, whole, and never a fault of ours."""

import json

import pytest
from polars.exceptions import PanicException

from vaultgraph.serve import dispatch as dispatching
from vaultgraph.serve.cells import one_line
from vaultgraph.serve.payload import ENVELOPE_BYTES, wire_bytes

BUDGET = 16 * 1024


@pytest.fixture(scope="module")
def odd_names() -> dict[str, str]:
    """Names that a POSIX file system takes and that look like addresses or like several lines."""
    return {
        "C:.md": "one needle [[~t]]",
        "~t.md": "two needle",
        "file:x.md": "three needle",
        "c:/inner.md": "four needle",
        "two\nlines.md": "five needle",
        "esc\x1b[31m.md": "six needle",
    }


def test_notes_whose_names_look_like_addresses_are_notes_like_others(local, write, odd_names):
    served = local(write(odd_names))
    assert served.text("cypher_query", query="MATCH (n:Note) RETURN count(*)").split("\n")[1] == "6"
    assert (
        served.text("cypher_query", query="MATCH (:Note {path: 'C:.md'})-->(m) RETURN m.path").split("\n")[1] == "~t.md"
    )
    assert served.text("read_source", file_path="./C:.md") == "C:.md  (1 line)\none needle [[~t]]"
    assert served.text("read_source", file_path="C:.md") == "C:.md  (1 line)\none needle [[~t]]"
    assert "with ./ in front" in served.error("read_source", file_path="D:.md")  # no file has this name
    assert served.text("read_source", file_path="inner") == "c:/inner.md  (1 line)\nfour needle"


def test_a_name_with_line_breaks_or_control_characters_takes_one_line(local, write, odd_names):
    served = local(write({**odd_names, "x\ny/broken\x07.md": "---\na: [\n---\n"}))
    for name, arguments in (
        ("list_source", {}),
        ("grep", {"pattern": "needle"}),
        ("read_source", {"file_path": "two\nlines.md"}),
        ("graph_overview", {"problems": True}),
        ("rebuild_graph", {}),
        ("fetch_images", {"items": ["two\nlines.md"]}),
    ):
        text = served.call(name, **arguments).text
        assert "\x1b" not in text
        assert "\x07" not in text
        assert not any(line.startswith("lines.md") for line in text.split("\n"))
    assert "two\\nlines.md:1:five needle" in served.text("grep", pattern="five")


def test_one_line_shows_controls_as_json_escapes():
    assert one_line("a\nb\t\x00\x7f\u2028c é") == "a\\nb\\t\\u0000\\u007f\\u2028c é"
    assert one_line("\x9b31m \u202egnp.md\u2069 \u200f שלום") == "\\u009b31m \\u202egnp.md\\u2069 \u200f שלום"


@pytest.mark.parametrize("text", ["a", "é😀", '"\\\n\t\r', "\x01\x02\x1b", "plain\nlines\x00"])
def test_the_bytes_of_a_text_on_the_wire_are_those_of_its_json(text):
    assert wire_bytes(text) >= len(json.dumps(text, ensure_ascii=False).encode()) - 2


@pytest.mark.parametrize("shape", ["text", "json", "csv"])
def test_control_characters_keep_replies_within_their_budget(local, write, shape):
    served = local(write({"a.md": "\x01\x02\x03" * 20_000 + "\n" + "\x01" * 20_000}))
    for answer in (
        served.call("read_source", file_path="a.md"),
        served.call("cypher_query", query="MATCH (n:Note) RETURN n.body", format=shape),
        served.call("grep", pattern="\x01"),
    ):
        structured = json.dumps(answer.structured, ensure_ascii=False) if answer.structured else ""
        assert len(json.dumps(answer.text, ensure_ascii=False)) + len(structured) <= BUDGET


def test_messages_that_quote_a_huge_argument_are_cut(local, sample):
    served = local(sample)
    long = "x" * 200_000
    for name, arguments in (
        ("graph_overview", {"types": [long]}),
        ("graph_overview", {"cypher": [long]}),
        ("cypher_query", {"query": "RETURN 1", long: 1}),
        ("read_source", {"file_path": long}),
        ("expand_response", {"result_id": long}),
        (long, {}),
    ):
        assert wire_bytes(served.error(name, **arguments)) < dispatching.ERROR_BYTES + ENVELOPE_BYTES
    assert len(served.text("ping", message=long)) < 2 * ENVELOPE_BYTES + 1024


def test_a_panic_of_the_column_engine_is_one_line_and_the_server_goes_on(local, sample, monkeypatch, caplog):
    served = local(sample)
    find = dispatching.find_operation

    def panicking(session, name: str):
        if name == "ping":
            raise PanicException("index out of bounds")
        return find(session, name)

    monkeypatch.setattr(dispatching, "find_operation", panicking)
    assert served.error("ping").startswith("internal: ping failed")
    assert "index out of bounds" in caplog.text
    assert served.text("cypher_query", query="RETURN 1")


def test_numbers_without_bounds_ask_for_no_more_memory_than_the_text_has(local, write):
    served = local(write({"a.md": "a\n" * 30_000}))
    huge = 10**30
    text = served.text("read_source", file_path="a.md", grep="a", grep_context=huge)
    assert text.startswith("a.md  (30,000 matches in 30,000 lines)\n")
    assert served.text("read_source", file_path="a.md", end_line=huge).startswith("a.md  (lines 1-")
    assert "no line" in served.error("read_source", file_path="a.md", start_line=huge)
    assert served.text("grep", pattern="a", context=huge, max_results=huge).startswith("a.md:1:a\n")
    assert served.text("list_source", depth=huge).startswith("./")


def test_a_cut_inside_the_last_line_advises_no_line_after_it(local, write):
    served = local(write({"a.md": "one long line"}))
    assert served.text("read_source", file_path="a.md", max_chars=3) == "a.md  (lines 1-1 of 1)\none\ncut at max_chars"
