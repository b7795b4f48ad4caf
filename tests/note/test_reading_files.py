"""Files as bytes: encodings, line ends, bodies, hashes, order, canvases."""

import json
from collections.abc import Callable

import pytest

from vaultgraph.note.read import read_notes
from vaultgraph.note.records import LinkSyntax, RecordTable, content_hash, empty_records

ReadOne = Callable[..., RecordTable]


def test_no_files_give_an_empty_table_with_every_schema(schemas_hold: Callable[[RecordTable], None]) -> None:
    records = read_notes([], [])
    schemas_hold(records)
    assert all(
        frame.equals(other)
        for frame, other in zip(records.tables().values(), empty_records().tables().values(), strict=True)
    )


def test_paths_are_sorted_by_code_point_and_rows_follow(schemas_hold: Callable[[RecordTable], None]) -> None:
    paths = ["b.md", "Z.md", "é.md", "a/x.md", "a.md"]
    records = read_notes(paths, [f"[[{path}]]".encode() for path in paths])
    schemas_hold(records)
    assert records.notes["path"].to_list() == ["Z.md", "a.md", "a/x.md", "b.md", "é.md"]
    assert records.links["target"].to_list() == records.notes["path"].to_list()


def test_the_hash_is_of_the_bytes_and_the_size_counts_them(read_one: ReadOne) -> None:
    note = read_one("é").notes.row(0, named=True)
    assert note["hash"] == content_hash("é".encode())
    assert len(note["hash"]) == 16
    assert note["size_bytes"] == 2


def test_a_byte_order_mark_is_skipped(read_one: ReadOne) -> None:
    records = read_one(b"\xef\xbb\xbf---\ntitle: T\n---\nbody")
    note = records.notes.row(0, named=True)
    assert (note["title"], note["body"], note["body_line"]) == ("T", "body", 4)


def test_a_file_that_is_not_utf8_is_a_note_without_a_body(read_one: ReadOne) -> None:
    records = read_one("é [[x]]".encode("latin-1"), "folder/Name.md")
    note = records.notes.row(0, named=True)
    assert (note["title"], note["body"], note["is_canvas"]) == ("Name", None, False)
    assert records.links.height == 0
    assert records.problems.select("line", "code", "severity").rows() == [(None, "not-utf8", "warning")]


def test_nul_bytes_are_kept(read_one: ReadOne) -> None:
    records = read_one(b"a\x00b [[x]]")
    assert records.notes["body"].to_list() == ["a\x00b [[x]]"]
    assert records.links["target"].to_list() == ["x"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_body_is_verbatim_whatever_ends_its_lines(read_one: ReadOne, end: str) -> None:
    records = read_one(end.join(["---", "a: 1", "b: 2", "---", "", "# H", "[[x]]  ", ""]))
    note = records.notes.row(0, named=True)
    assert note["body"] == end.join(["", "# H", "[[x]]  ", ""])
    assert note["body_line"] == 5
    assert records.properties["line"].to_list() == [2, 3]
    assert records.headings["line"].to_list() == [6]
    assert records.links["line"].to_list() == [7]


def test_mixed_line_ends_count_alike(read_one: ReadOne) -> None:
    assert read_one("one\r\ntwo\rthree\n[[x]]").links["line"].to_list() == [4]


def test_other_line_separators_end_no_line(read_one: ReadOne) -> None:
    assert read_one("a\u2028b\x0bc\x0cd\x85e\n[[x]]").links["line"].to_list() == [2]


@pytest.mark.parametrize(
    ("path", "title"), [("a/b.c.md", "b.c"), ("UPPER.MD", "UPPER"), ("日記.md", "日記"), ("x.canvas", "x")]
)
def test_without_a_stated_title_the_stem_is_the_title(read_one: ReadOne, path: str, title: str) -> None:
    assert read_one("", path).notes["title"].to_list() == [title]


def test_an_empty_file_has_an_empty_body(read_one: ReadOne) -> None:
    note = read_one("").notes.row(0, named=True)
    assert (note["body"], note["body_line"], note["size_bytes"]) == ("", 1, 0)


def test_reading_one_by_one_gives_the_rows_of_a_batch(read_one: ReadOne) -> None:
    contents = ["[[a]] `x", "` [[b]]", "```\n[[no]]", "[[c]]\n", "# H", "text", "- x\n  ```\n  [[no]]", "[r]\n\n[r]: y"]
    paths = [f"{number}.md" for number in range(len(contents))]
    batch = read_notes(paths, [content.encode() for content in contents])
    for number, content in enumerate(contents):
        alone = read_one(content, paths[number])
        for name, frame in alone.tables().items():
            if name != "notes":
                of_note = batch.tables()[name].filter(batch.tables()[name]["note"] == number)
                assert frame.drop("note").equals(of_note.drop("note")), name


def canvas(*nodes: object) -> str:
    return json.dumps({"nodes": nodes, "edges": []}, indent="\t")


def test_the_cards_of_a_canvas_are_links(read_one: ReadOne) -> None:
    text = canvas(
        {"id": "1", "type": "file", "file": "Notes/A.md", "subpath": "#Heading"},
        {"id": "2", "type": "file", "file": "img/i.png"},
        {"id": "3", "type": "link", "url": "https://example.org"},
        {"id": "4", "type": "group", "label": "[[no]]"},
    )
    records = read_one(text, "board.canvas")
    note = records.notes.row(0, named=True)
    assert (note["is_canvas"], note["body"], note["title"]) == (True, None, "board")
    assert records.links.select("line", "syntax", "target", "anchor").rows() == [
        (4, LinkSyntax.CANVAS, "Notes/A.md", "Heading"),
        (10, LinkSyntax.CANVAS, "img/i.png", None),
        (15, LinkSyntax.URL, "https://example.org", None),
    ]


def test_text_cards_are_read_as_markdown_on_the_line_of_the_card(read_one: ReadOne) -> None:
    text = canvas({"id": "a", "type": "text", "text": "# H\n[[N]] #t\n\n```\n[[no]]\n```\n![[i.png|50]]"})
    records = read_one(text, "board.canvas")
    assert records.links.select("line", "target", "is_embed", "width", "section").rows() == [
        (4, "N", False, None, "H"),
        (4, "i.png", True, 50, "H"),
    ]
    assert records.tags.select("line", "tag").rows() == [(4, "t")]
    assert records.headings.height == 0


def test_an_open_fence_in_one_card_does_not_reach_the_next(read_one: ReadOne) -> None:
    text = canvas({"id": "a", "type": "text", "text": "```\n[[no]]"}, {"id": "b", "type": "text", "text": "[[yes]]"})
    assert read_one(text, "board.canvas").links["target"].to_list() == ["yes"]


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"nodes": 1}', "null", "[" * 5000, '{"nodes": [' + "1" * 5000 + "]}", "\x00"]
)
def test_a_broken_canvas_is_a_problem_and_still_a_note(read_one: ReadOne, text: str) -> None:
    records = read_one(text, "board.canvas")
    assert records.notes.height == 1
    assert records.problems["code"].to_list() in (["bad-canvas"], [])
    assert records.links.height == 0


@pytest.mark.parametrize("character", ["\x85", "\u2028", "\u2029"])
def test_only_lf_and_cr_end_a_line_of_frontmatter(read_one: ReadOne, character: str) -> None:
    front = (
        f"title: a{character}b\nquoted: 'x {character} y' # z{character}w: 1\nk{character}: &n {{c: {character}}}\n"
        f"list:\n  - x{character}[[y]]\nfolded: >-\n  a{character}b\n  c\nagain: *n\n"
    )
    records = read_one(f"---\n{front}---\ntext")
    assert records.problems.height == 0
    assert records.properties.select("line", "key", "text").rows() == [
        (2, "title", f"a{character}b"),
        (3, "quoted", f"x {character} y"),
        (4, f"k{character}.c", character),
        (5, "list", f"x{character}[[y]]"),
        (7, "folded", f"a{character}b c"),
        (4, "again.c", character),
    ]
    assert records.links.select("line", "target").rows() == [(6, "y")]
    assert records.notes["title"].to_list() == [f"a{character}b"]


def test_an_empty_canvas_is_fine(read_one: ReadOne) -> None:
    assert read_one("", "board.canvas").problems.height == 0
    assert read_one("{}", "board.canvas").problems.height == 0


def test_half_a_surrogate_pair_in_a_canvas_is_replaced(read_one: ReadOne) -> None:
    records = read_one(r'{"nodes":[{"id":"1","type":"text","text":"[[a\ud800b]]"}]}', "board.canvas")
    assert records.links["target"].to_list() == ["a\ufffdb"]


def test_cards_of_the_wrong_shape_are_ignored(read_one: ReadOne) -> None:
    text = canvas(1, None, {"type": "file", "file": 3}, {"id": 5, "type": "text", "text": "[[x]]"}, {"type": ["text"]})
    assert read_one(text, "board.canvas").links["target"].to_list() == ["x"]
