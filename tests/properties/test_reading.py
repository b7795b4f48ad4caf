"""Reading holds for any input: nothing crashes, batches do not matter, and the quick ways agree with the exact ones."""

import random

import numpy as np
import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vaultgraph.note.flat import is_flat
from vaultgraph.note.flat_lines import LineKind, LineReader
from vaultgraph.note.frontmatter import front_of
from vaultgraph.note.fronts import fronts_of
from vaultgraph.note.inline import scan_inline
from vaultgraph.note.properties import stated_by
from vaultgraph.note.read import read_notes
from vaultgraph.note.records import SCHEMAS, RecordTable, merge_records
from vaultgraph.note.segments import Segments, find_segments
from vaultgraph.note.tokens import difficult, find_tokens
from vaultgraph.note.values import Values

QUICK = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow], derandomize=True)

PIECES = [
    "\n", "\n", "\n", "\n\n", "\n\n", " ", " ", "    ", "\t", "a", "b c", "1", "é", "日", "🎉", "[[", "]]", "[[a]]",
    "![[b|1]]", "[", "]", "](", "(", ")", "[t](u)", "![t](u \"T_T\")", "[r]", "[r]: u", "[^1]: x", "`", "``", "```",
    "~~~", "$", "$$", "%%", "<!--", "-->", "<", ">", "<div>", "</div>", "<b>", "<pre>", "# ", "## ", "#t", "#", "\\",
    "|", "---", "===", "- ", "* ", "1. ", "> ", "> ", "^id", "https://x.y", "<https://x.y>", ":", "\"", "'", "!", "=",
    "|-|", "- [ ] ", "\r", "\r\n", "\x00", "&amp;", "%20",
]  # fmt: skip
markdown = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
plain = markdown.map(lambda text: text.replace("\r\n", "\n").replace("\r", "\n"))
yaml = st.lists(
    st.sampled_from(
        ["a: ", "b: ", "tags: ", "title: ", "\n", "\n", "\n", "  ", "- ", "[", "]", "{", "}", ", ", "x", "1", "1.5",
         "true", "~", "2024-01-01", "2024-01-01T10:00", "\"", "'", "&x ", "*x", "!!int ", "|\n", "[[n]]", "{{d}}", "#",
         ": ", "? ", "@", "\t", "é", "\\ud800", "---\n"]
    ),
    max_size=25,
).map("".join)  # fmt: skip
notes = st.one_of(
    markdown.map(str.encode),
    st.tuples(yaml, markdown).map(lambda parts: f"---\n{parts[0]}\n---\n{parts[1]}".encode()),
    st.binary(max_size=60),
)


def rows_of(records: RecordTable) -> dict[str, list[tuple[object, ...]]]:
    return {name: frame.rows() for name, frame in records.tables().items()}


@QUICK
@given(st.lists(st.tuples(st.sampled_from(["md", "MD", "canvas"]), notes), max_size=5))
def test_any_bytes_give_a_table_with_every_path(files: list[tuple[str, bytes]]) -> None:
    paths = [f"{number}.{suffix}" for number, (suffix, _) in enumerate(files)]
    records = read_notes(paths, [data for _, data in files])
    assert records.notes["path"].to_list() == sorted(paths)
    for name, frame in records.tables().items():
        assert frame.schema == SCHEMAS[name]
        if "line" in frame.columns and frame.height:
            lines = pl.Series(
                [len(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")) for _, data in files]
            )
            order = [paths.index(path) for path in records.notes["path"]]
            most = lines.gather(order).gather(frame["note"])
            assert ((frame["line"].fill_null(1) >= 1) & (frame["line"].fill_null(1) <= most)).all(), name


@QUICK
@given(st.lists(notes, max_size=6), st.integers(0, 6))
def test_reading_in_parts_and_merging_gives_what_reading_at_once_gives(contents: list[bytes], cut: int) -> None:
    paths = [f"{number * 7 % 10}.md" for number in range(len(contents))]
    whole = read_notes(paths, contents)
    parts = [read_notes(paths[:cut], contents[:cut]), read_notes(paths[cut:], contents[cut:])]
    assert rows_of(merge_records(*parts)) == rows_of(whole)


@QUICK
@given(st.lists(plain, min_size=1, max_size=4))
def test_the_column_scan_finds_what_the_exact_scan_finds(texts: list[str]) -> None:
    frame = pl.DataFrame({"row": range(len(texts)), "body": range(len(texts)), "text": texts})
    segments = Segments(frame, pl.DataFrame(), pl.DataFrame(), {}, np.ones(0, np.bool_))
    quick = find_tokens(segments).filter(~pl.col("segment").is_in(np.flatnonzero(difficult(segments).to_numpy())))
    expected = [
        (segment, segment + token.line, *token[1:])
        for segment, (text, is_difficult) in enumerate(zip(texts, difficult(segments), strict=True))
        if not is_difficult
        for token in scan_inline(text, {})
    ]
    assert quick.rows() == expected


@settings(QUICK, max_examples=300)
@given(plain)
def test_the_quick_regions_find_what_the_block_parser_finds(text: str) -> None:
    lines, quick = find_segments([text])
    _, exact = find_segments([text], exact_only=True)
    assert quick.headings.rows() == exact.headings.rows()
    columns = ("line", "kind", "is_embed", "name", "text", "title")
    assert find_tokens(quick).select(columns).rows() == find_tokens(exact).select(columns).rows()
    assert quick.blocks.rows() == exact.blocks.rows()
    assert lines.text.to_list() == text.split("\n")


FLAT_PIECES = [
    "a: ", "b:", "é k: ", "tags: ", "title: ", "kg_skip: ", "\n", "\n", "\n- ", "\n  - ", "x", "y z", "1", "-1", "1.5",
    "true", "~", "2024-01-01", '"q"', "'s'", "[a, b c]", "[]", "#t", " #", ": ", "[[n]]", "@", "é", ".",
    "c: >-\n", "c: >-\n  ", "\n  ", "\n ", "\t",
]  # fmt: skip


@settings(QUICK, max_examples=400)
@given(st.lists(st.sampled_from(FLAT_PIECES), max_size=10).map("".join))
def test_frontmatter_that_needs_no_parser_states_what_the_parser_finds(source: str) -> None:
    source += "\n"
    if is_flat(source):
        # a comment is nothing to YAML, and enough to be left to the parser
        assert not is_flat("# comment\n" + source)
        quick, parsed = stated_by(source), stated_by(f"{source}# comment\n")
        assert quick == parsed


FRONT_PIECES = ["---\n", "---", "\n---\n", "\ufeff", "a: 1\n", "é", "\r\n", "\r", " ", "\n", "-", "...\n", "body"]


@settings(QUICK, max_examples=100)
@given(st.lists(st.lists(st.sampled_from(FRONT_PIECES), max_size=6).map("".join), min_size=1, max_size=8))
def test_the_frontmatter_of_many_notes_ends_where_that_of_each_does(texts: list[str]) -> None:
    notes = [text.encode() for text in texts] * 50
    found = fronts_of(pl.Series(notes, dtype=pl.Binary))
    rows = zip(notes, found.sources.to_list(), found.starts.tolist(), found.lines.tolist(), strict=True)
    for data, source, start, lines in rows:
        mark = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        assert (source, start - mark, lines) == front_of(data[mark:])


LINE_PIECES = [
    "a", "b c", "é", "x", "1", "9", "-", "- ", "  - ", "         - ", ":", ": ", ":", " ", " ", "#", " #", "[", "]",
    ",", ", ", '"', "'", '"q r"', "'s'", "\\", "true", "null", "~", "2024-01-01", "2024-02-30", "0000-01-01", "1.5",
    "2024-01-01T10:00", "0x1f", ".", "\t", "\xa0", "\u2028", "日", "٣", "a\u0301", "@", "|", "[a, b]", "[~]", "[]",
    "[[n]]", "k: ", ">-", "a: >-",
]  # fmt: skip


def stated_by_lines(reader: LineReader, texts: list[str]) -> list[object]:
    """Of each line: its kind, its key or margin, and the kind and text of its values."""
    numbers: list[int] = reader.numbers_of(pl.Series(texts, dtype=pl.String)).tolist()
    table, keys, values = reader.table, list(reader.keys), reader.values
    found: list[object] = []
    for number in numbers:
        kind, detail, first = table.kinds[number], table.details[number], table.firsts[number]
        codes = table.codes[first : first + table.counts[number]] if kind != LineKind.OTHER else []
        has_key = LineKind.SCALAR <= kind <= LineKind.OPEN or kind == LineKind.FOLDED
        named = keys[detail] if has_key else detail if kind == LineKind.ITEM else None
        found.append((kind, named, [(values.kinds[code], values.texts[code]) for code in codes]))
    return found


@settings(QUICK, max_examples=25)
@given(st.integers(0, 10**9))
def test_many_lines_of_frontmatter_are_read_as_each_by_itself(seed: int) -> None:
    source = random.Random(seed)
    texts = ["".join(source.choices(LINE_PIECES, k=source.randint(1, 6))) for _ in range(1500)]
    together = stated_by_lines(LineReader(Values()), texts)
    parts = [texts[first : first + 100] for first in range(0, len(texts), 100)]  # too few for columns
    assert together == [line for part in parts for line in stated_by_lines(LineReader(Values()), part)]
