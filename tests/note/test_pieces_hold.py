"""Parts of notes hold for any Markdown: ids, order, lines, and that no text is lost."""

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vaultgraph.note.pieces_rows import MOST_PIECES
from vaultgraph.note.read import read_notes
from vaultgraph.note.records import SCHEMAS, LinkSyntax, PieceKind, RecordTable
from vaultgraph.note.structure import block_parser
from vaultgraph.profile.settings import (
    Callouts,
    Chunks,
    CodeFences,
    OrderedLists,
    Reading,
    Sections,
    Structure,
    TableRule,
    Tasks,
)

QUICK = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
WORDS = [
    "\n", "\n", "\n", "\n\n", "\n\n", " ", "  ", "    ", "\t", "a", "b c", "ab ab ab", "é", "日", "\xa0", "# ",
    "## ", "# A\n", "## B\n", "#", "===", "---", "- ", "* ", "1. ", "2) ", "> ", "> ", "> [!note] ",
    "> [!a]-\n> ", "```", "~~~", "%%", "$$", "<!--", "-->", "<div>", "| a | b |\n|---|---|\n",
    "| x | [[y]] |\n", "|", "[[L]]", "- [ ] ", "- [x] t\n", " ^id\n", "^id", "[r]: u", "[^1]: ", "\r\n", "\\",
    "`", "::", "k:: v\n", "[k:: v]", "(k:: [[L]])", "~chunk1", "~2", "$",
]  # fmt: skip
markdown = st.lists(st.sampled_from(WORDS), max_size=40).map("".join)
LEAVES = {
    "paragraph_open", "bullet_list_open", "ordered_list_open", "blockquote_open", "footnote_open", "table_open",
    "fence", "code_block", "html_block", "$$_block",
}  # fmt: skip


def everything(max_words: int = 650) -> Reading:
    structure = Structure(
        sections=Sections(),
        chunks=Chunks(max_words=max_words, max_chars=6 * max_words),
        callouts=Callouts(),
        code_fences=CodeFences(),
        ordered_lists=OrderedLists(min_items=1),
        tables=(TableRule("A", "E", "Row", "a"), TableRule("B", "F", edges=True)),
    )
    return Reading(structure=structure, inline_fields=True, tasks=Tasks())


def read(text: str, reading: Reading) -> RecordTable:
    return read_notes(["note.md"], [text.encode()], reading)


@QUICK
@given(st.lists(markdown, min_size=1, max_size=3))
def test_parts_have_their_schemas_unique_ids_and_holders_before_them(texts: list[str]) -> None:
    paths = [f"{number}.md" for number in range(len(texts))]
    contents = [text.encode() for text in texts]
    records = read_notes(paths, contents, everything())
    for name, frame in records.tables().items():
        assert frame.schema == SCHEMAS[name]
        assert name == "notes" or frame["note"].is_sorted()
    for note, text in enumerate(texts):
        pieces = records.pieces.filter(note=note)
        ids = pieces.filter(pl.col("kind") != PieceKind.EDGE)["fragment"].to_list()
        assert len(set(ids)) == len(ids)
        assert "" not in ids
        lines = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
        assert pieces["line"].is_sorted()
        assert all(1 <= line <= lines for line in pieces["line"])
        for place, (parent, section) in enumerate(pieces.select("parent", "section").rows()):
            assert -1 <= parent < place
            assert -1 <= section < place
            assert section < 0 or pieces["kind"][section] == PieceKind.SECTION
        edges = pieces.filter(kind=PieceKind.EDGE)
        links = records.links.filter(note=note, syntax=LinkSyntax.TABLE)
        assert links["line"].to_list() == edges["line"].to_list()
        held = records.cells.filter(note=note)["piece"]
        assert held.is_sorted()
        assert pieces["kind"].gather(held).is_in([PieceKind.ROW, PieceKind.EDGE]).all()
    again = read_notes(paths, contents, everything())
    assert all(frame.equals(again.tables()[name]) for name, frame in records.tables().items())


@QUICK
@given(st.lists(markdown, min_size=1, max_size=4))
def test_sections_are_the_headings(texts: list[str]) -> None:
    records = read_notes([f"{at}.md" for at in range(len(texts))], [text.encode() for text in texts], everything())
    sections = records.pieces.filter(kind=PieceKind.SECTION)
    headings = records.headings.select("note", "line", pl.col("level").cast(pl.Int32), "text").rows()
    assert sections.select("note", "line", "level", "title").rows() == headings


@QUICK
@given(markdown, st.sampled_from([1, 3, 650]))
def test_chunks_hold_the_text_of_all_blocks_in_order_and_keep_to_the_limits(text: str, most: int) -> None:
    body = text.replace("\r\n", "\n").replace("\r", "\n")
    if body.startswith("---"):
        return  # may be frontmatter
    lines = body.split("\n")
    expected = ""
    for token in block_parser().enable("table").parse(body):
        if token.level == 0 and token.type in LEAVES and token.map is not None:
            block = "\n".join(lines[slice(*token.map)])
            if token.type != "html_block" or "<!--" not in block:
                expected += "".join(block.split())
    chunks = read(text, everything(most)).pieces.filter(kind=PieceKind.CHUNK)
    found = "".join(chunks.filter(~pl.col("text").str.contains("<!--", literal=True))["text"].to_list())
    if "<!--" not in body:
        # a block id may stand alone below its block
        assert "".join(found.split()).replace("^id", "") == expected.replace("^id", "")
    for chunk, block in chunks.select("text", "block").rows():
        assert chunk.strip("\n") == chunk
        assert block is not None or len(chunk) <= 6 * most


@QUICK
@given(st.lists(markdown, min_size=1, max_size=4))
def test_tasks_and_fields_do_not_depend_on_whether_a_body_is_parsed(texts: list[str]) -> None:
    paths, contents = [f"{at}.md" for at in range(len(texts))], [text.encode() for text in texts]
    structure = Structure(code_fences=CodeFences(langs=()))
    alone = read_notes(paths, contents, Reading(inline_fields=True, tasks=Tasks()))
    parsed = read_notes(paths, contents, Reading(structure, inline_fields=True, tasks=Tasks()))
    for name, frame in alone.tables().items():
        assert frame.equals(parsed.tables()[name]), name


@QUICK
@given(markdown)
def test_what_is_read_beside_changes_nothing_else(text: str) -> None:
    plain, all_of_it = read_notes(["note.md"], [text.encode()]), read(text, everything())
    for name in ("notes", "tags", "headings", "blocks"):
        assert plain.tables()[name].equals(all_of_it.tables()[name]), name
    links = all_of_it.links.filter(pl.col("syntax") != LinkSyntax.TABLE)
    assert links.drop("property").equals(plain.links.drop("property"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("> " * 50_000 + "[!a]", id="quotes in quotes on one line"),
        pytest.param("\n".join("> " * depth + "[!a]" for depth in range(1, 200)), id="callouts in callouts"),
        pytest.param("\n".join("   " * depth + "1. a" for depth in range(200)), id="steps in steps"),
        pytest.param("[a:: " * 20_000, id="open brackets"),
        pytest.param("# A\n|" + "a|" * 3000 + "\n|" + "-|" * 3000 + "\n" + "|x\n" * 5000, id="a wide table"),
        pytest.param("# " + "x" * 50_000 + "\n" + "## y\n\nz\n" * 2000, id="a long title above many"),
        pytest.param("# A\n| " + "x" * 50_000 + " | y |\n|-|-|\n" + "| a | b |\n" * 2000, id="a long name of a column"),
        pytest.param("# A\n# A~2\n" * 2000, id="ids that look numbered"),
    ],
)
def test_what_is_made_of_a_hostile_note_is_bounded(text: str) -> None:
    records = read(text, everything())
    pieces, cells = records.pieces, records.cells
    assert sum(map(len, pieces["fragment"])) <= 2000 * pieces.height
    assert sum(map(len, cells["key"])) <= 200 * cells.height
    assert sum(map(len, pieces["text"].drop_nulls())) <= 20 * len(text) + 100


def test_a_note_has_a_most_of_parts() -> None:
    records = read("# a\n" * (MOST_PIECES + 10), Reading(Structure(sections=Sections(), chunks=Chunks())))
    assert records.pieces.height == MOST_PIECES
    assert "many-pieces" in records.problems["code"]
