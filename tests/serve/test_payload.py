"""Replies stay within their budget: complete rows, then how to get the rest."""

import csv
import io
import json

import pytest

from vaultgraph.errors import ParameterError
from vaultgraph.serve.marks import Marks
from vaultgraph.serve.payload import FULL_BYTES, RowPages, TextPages, csv_line, reply_bytes, wire_bytes
from vaultgraph.serve.results import MOST_BYTES, MOST_RESULTS, ResultStore


def rows(count, width=40):
    return [(index, f"note {index} " + "x" * width) for index in range(count)]


class ListRows(list):
    """Rows at hand; a long text counts as its length."""

    @property
    def size_bytes(self):
        return sum(len(cell) for row in self for cell in row if isinstance(cell, str))

    def part(self, first, stop):
        return self[first:stop]


LAST = "gen 3 · 2026-01-31T10:20:30Z"


def pages(table, shape="text", notes=(), columns=("i", "t"), generation=3, stale=None):
    return RowPages(columns, ListRows(table), shape, Marks(generation, "2026-01-31T10:20:30Z", stale), notes)


def test_a_small_result_is_a_header_rows_and_a_last_line():
    answer = ResultStore().answer(pages([(1, "a"), (2, "b c")]), 16384)
    assert answer.text == f"i\tt\n1\ta\n2\tb c\n2 rows · {LAST}"
    assert ResultStore().answer(pages([]), 16384).text == f"i\tt\n0 rows · {LAST}"


@pytest.mark.parametrize("shape", ["text", "json", "csv"])
@pytest.mark.parametrize("budget", [4096, 16384])
def test_all_rows_come_once_in_order_when_parts_are_put_together(shape, budget):
    table, store = rows(1000), ResultStore()
    answer, seen, offset = store.answer(pages(table, shape), budget), [], 0
    while True:
        wire = json.dumps({"structured": answer.structured, "text": answer.text}, ensure_ascii=False)
        assert len(wire.encode()) <= budget
        if shape == "json":
            part = [tuple(row) for row in answer.structured["rows"]]
        elif shape == "csv":
            part = [(int(i), t) for i, t in list(csv.reader(io.StringIO(answer.parts[0].text)))[1:]]
        else:
            lines = answer.text.split("\n")[1:]
            part = [(int(line.split("\t")[0]), line.split("\t")[1]) for line in lines if "\t" in line]
        seen += part
        offset += len(part)
        left = len(table) - offset
        if not left:
            break
        if shape == "json":
            assert answer.structured["next"]["arguments"] == {"result_id": "r1", "offset": offset}
        else:
            assert f'{left:,} more rows: expand_response(result_id="r1", offset={offset})' in answer.text
        answer = store.more("r1", offset, budget)
    assert seen == table


def test_long_cells_are_cut_to_share_the_budget_and_full_mode_gives_them_whole():
    body = "ä" * 9000
    store = ResultStore()
    whole = store.answer(pages([(body,)], columns=("body",)), 64_000)
    assert body in whole.text
    cut = store.answer(pages([(body,), (body,)], columns=("body",)), 16384)
    assert cut.text.count("… (9,000 characters)") == 2
    assert 'Long cells were cut; _response {"mode": "full"} gives them whole.' in cut.text
    assert "2 rows · gen 3" in cut.text
    assert "more row" not in cut.text
    assert wire_bytes(cut.text) <= 16384


def test_a_row_of_many_long_cells_still_fits():
    row = tuple("y" * 20_000 for _ in range(30))
    answer = ResultStore().answer(pages([row] * 3, columns=tuple("c" * 30)), 16384)
    assert wire_bytes(answer.text) <= 16384
    assert answer.text.split("\n")[1].count("\t") == 29


def test_notes_follow_the_rows_of_every_part():
    store = ResultStore()
    first = store.answer(pages(rows(1000), notes=("warning: w",), stale="since T: gone"), 4096)
    later = store.more("r1", 500, 4096)
    for answer in (first, later):
        assert answer.text.endswith(f"warning: w\nstale since T: gone\n1,000 rows · {LAST}")


def test_text_is_cut_at_line_ends_and_reads_on_to_its_end():
    text = "\n".join(f"line {index} {'z' * 50}" for index in range(2000))
    store = ResultStore()
    answer, parts, offset = store.answer(TextPages(text), 8192), [], 0
    while "expand_response" in answer.text:
        body, _, call = answer.text.rpartition("\n")
        parts.append(body + "\n")
        offset += len(body) + 1
        assert call.endswith(f'characters: expand_response(result_id="r1", offset={offset})')
        answer = store.more("r1", offset, 8192)
    assert "".join(parts) + answer.text == text


def test_without_an_offset_the_next_part_follows_the_one_delivered_last():
    table, store, seen = rows(1000), ResultStore(), []
    answer = store.answer(pages(table, "json"), 4096)
    seen += answer.structured["rows"]
    while "next" in answer.structured:
        answer = store.more("r1", None, 4096)
        seen += answer.structured["rows"]
    assert [tuple(row) for row in seen] == table
    with pytest.raises(ParameterError, match="All parts of `r1` were delivered; offset=0"):
        store.more("r1", None, 4096)
    assert store.more("r1", 0, 4096).structured["rows"][0] == seen[0]
    assert store.more("r1", None, 4096).structured["offset"] > 0


@pytest.mark.parametrize("offset", [-1, 1000, 5000])
def test_an_offset_outside_the_result_is_refused(offset):
    store = ResultStore()
    store.answer(pages(rows(1000)), 4096)
    with pytest.raises(ParameterError, match="from 0 to 999"):
        store.more("r1", offset, 4096)


def test_results_expire_after_ten_minutes_without_use():
    now = [0.0]
    store = ResultStore(clock=lambda: now[0])
    store.answer(pages(rows(1000)), 4096)
    now[0] = 599.0
    assert store.more("r1", 500, 4096).text
    now[0] = 1198.0
    assert store.more("r1", 500, 4096).text
    now[0] = 1798.1
    with pytest.raises(ParameterError, match="no result `r1`"):
        store.more("r1", 500, 4096)


def test_the_oldest_results_go_when_there_are_too_many():
    store = ResultStore()
    for _ in range(MOST_RESULTS + 1):
        store.answer(pages(rows(1000)), 4096)
    with pytest.raises(ParameterError, match="Kept now: r2, r3"):
        store.more("r1", 0, 4096)
    assert store.more("r2", 0, 4096).text


def test_results_of_graphs_older_than_the_last_but_one_are_let_go():
    store = ResultStore()
    for generation in (1, 2, 3):
        store.answer(pages(rows(1000), generation=generation), 4096)
    with pytest.raises(ParameterError, match="Kept now: r2, r3"):
        store.more("r1", 0, 4096)


def test_a_result_too_large_to_keep_says_how_to_ask_again():
    huge = [("v" * 1_000_000,)] * 40
    answer = ResultStore().answer(pages(huge, columns=("c",)), 4096)
    assert "too many to keep: ask again with SKIP" in answer.text


def test_the_budget_of_a_call_is_16_kib_unless_it_asks_otherwise():
    assert reply_bytes({}) == 16384
    assert reply_bytes({"_response": {"max_bytes": 5000}}) == 5000
    assert reply_bytes({"_response": {"mode": "full"}}) == FULL_BYTES
    with pytest.raises(ParameterError, match="leave one of them out"):
        reply_bytes({"_response": {"mode": "full", "max_bytes": 5000}})


def test_the_oldest_results_go_when_all_of_them_are_too_large():
    store = ResultStore()
    for _ in range(4):
        store.answer(pages([("v" * 1_000_000,)] * 10, columns=("c",)), 4096)
    with pytest.raises(ParameterError, match="Kept now: r2, r3, r4"):
        store.more("r1", 0, 4096)
    assert 3 * 10_000_000 < MOST_BYTES < 4 * 10_000_000


@pytest.mark.parametrize("shape", ["text", "json", "csv"])
def test_nothing_is_sent_twice(shape):
    answer = ResultStore().answer(pages([("once only",)], shape, columns=("c",)), 16384)
    wire = json.dumps([answer.structured, [part.text for part in answer.parts]])
    assert wire.count("once only") == 1
    assert (answer.structured is None) is (shape != "json")


@pytest.mark.parametrize("field", ["a\nb", "a\rb", 'a"b', "a,b", "a\r\n"])
def test_a_csv_record_with_line_breaks_in_its_fields_is_read_back(field):
    assert list(csv.reader(io.StringIO(csv_line([field, "x"]), newline=""))) == [[field, "x"]]
