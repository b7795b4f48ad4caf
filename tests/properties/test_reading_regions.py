"""What is text and what is code, HTML, comment or math is what markdown-it-py says, for notes made to be misread.

The rules of the vault format that differ from CommonMark are listed in benchmarks/plain_markdown.py.
"""

import random
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vaultgraph.note.lines import split_lines

LISTED = [
    "", "", "", "", "x", "- x", "1. x", "2. y", "- y", "    - y", "      - y", "  - y", "   1. y", "  2. y", "\t- y",
    "> q", "    [[a]]", "  [[a]]", "      [[a]]", "     [[a]]", "        [[a]]", "> - q", "    code", "- ", "1.",
    "# h", "---", "    - [[b]]",
]  # fmt: skip


@pytest.fixture(scope="module")
def oracle(plain_markdown: ModuleType) -> object:
    return plain_markdown.PlainMarkdown()


@settings(
    deadline=None,
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_reading_finds_the_text_of_any_lines(
    data: st.DataObject, plain_markdown: ModuleType, odd_markdown: ModuleType, oracle: object
) -> None:
    margin = st.sampled_from(odd_markdown.MARGINS)
    line = st.tuples(margin, st.one_of(st.just(""), margin), st.sampled_from(odd_markdown.CONTENTS)).map("".join)
    bodies = data.draw(st.lists(st.lists(line, max_size=7).map("\n".join), min_size=1, max_size=8))
    assert plain_markdown.differences(bodies, oracle) == []
    assert plain_markdown.differences(bodies, oracle, every_line=True) == []


@pytest.mark.parametrize("every_line", [False, True])
def test_reading_finds_the_text_of_thousands_of_odd_notes(
    plain_markdown: ModuleType, odd_markdown: ModuleType, oracle: object, every_line: bool
) -> None:
    bodies = odd_markdown.odd_bodies(seed=3, count=4000)
    assert plain_markdown.differences(bodies, oracle, every_line=every_line) == []


@pytest.mark.parametrize("every_line", [False, True])
def test_reading_finds_the_text_of_long_notes_of_odd_parts(
    plain_markdown: ModuleType, odd_markdown: ModuleType, oracle: object, every_line: bool
) -> None:
    parts = odd_markdown.odd_bodies(seed=11, count=3000)
    gaps = ["\n\n", "\n\ntext [[x]] [r]\n\n", "\n \n# h #t\n", "\n\n```\n"]
    mixed = [part + gaps[number % len(gaps)] for number, part in enumerate(parts)]
    bodies = ["".join(mixed[at : at + 25]) for at in range(0, len(mixed), 25)]
    assert plain_markdown.differences(bodies, oracle, every_line=every_line) == []


@pytest.mark.parametrize(
    ("body", "text", "headings"),
    [
        pytest.param("- a\n  # b\n\n# c", {0, 1, 3}, [(3, 1, "c")], id="a heading in a list item is no heading"),
        pytest.param("===\n===", {0}, [(0, 1, "===")], id="equal signs under equal signs make a heading"),
        pytest.param("[^1]: a\n\n    [[b]]\n\n      c", {0, 2, 4}, [], id="a footnote goes on where it is indented"),
        pytest.param("[^1]: a\n\n        [[b]]", {0}, [], id="code in a footnote is code"),
        pytest.param("[^1]: a\nb\n===", {0, 1, 2}, [], id="a footnote is no heading"),
        pytest.param("> # `a\n[[b]] `", {0, 1}, [], id="text below a heading in a quote is not of the quote"),
        pytest.param("|a|\n|-|\n---", {0, 1}, [], id="below a table is a rule"),
        pytest.param("|-\n-", {0}, [(0, 2, "|-")], id="a delimiter row needs a row above"),
        pytest.param("text\n2. text", {0, 1}, [], id="only an item numbered 1 interrupts a paragraph"),
        pytest.param("text\n2. text\n===", {0, 1}, [(0, 1, "text 2. text")], id="so it may be of a heading"),
        pytest.param("> - a\n>\n>       [[code]]", {0}, [], id="code in a list in a quote"),
        pytest.param("%%\n- %%\n    [[code]]", set(), [], id="what a comment holds is no list"),
        pytest.param("- x\n  $$\n  [[a]]\n$$", {0, 1, 2, 3}, [], id="math ends with its list item, so is none"),
        pytest.param("> - <!-- x\n> y -->\n[[z]]", {1, 2}, [], id="a comment in a list in a quote ends with its item"),
        pytest.param("- > <x-y>", set(), [], id="HTML in a quote in a list at the end of a note"),
        pytest.param(
            "x\n    - y\n\n    [[a]]", {0, 1}, [], id="what is indented below text is no item with text below"
        ),
        pytest.param("x\n2. y\n\n     [[a]]", {0, 1}, [], id="nor is a number in text"),
        pytest.param("   1. y\n    - y\n\n    [[a]]", {0, 1}, [], id="nor what is too far in for the list"),
        pytest.param("   1. y\n      - y\n    - [[y]]", {0, 1}, [], id="nor is such a line a list"),
        pytest.param("- a\n    - b\n\n      [[x]]", {0, 1, 3}, [], id="an item of an item has text below a gap"),
        pytest.param("# h\n2. y\n\n     t\n\n     [[a]]", {0, 1, 3, 5}, [(0, 1, "h")], id="a list begins with 2"),
        pytest.param("> q\n2. y\n\n     [[a]]", {0, 1, 3}, [], id="a list begins with 2 below a quote"),
        pytest.param("    > |a|\n> |-|\n> |#x|", {1, 2}, [], id="code is no head of a table in a quote"),
        pytest.param("> |#x|\n>        > |-|", {0, 1}, [], id="a delimiter row in text has no quote mark before it"),
        pytest.param("- \n  [[a]]\n===", {1, 2}, [], id="an empty item is an item: no heading"),
        pytest.param("  z\n2. y\n  2. y\n-", {0, 1, 2}, [(0, 2, "z 2. y 2. y")], id="a heading with numbers"),
        pytest.param("#t\n1.\n[[b]]\n-", {0, 1, 2}, [(0, 2, "#t 1. [[b]]")], id="a heading with a lone number"),
        pytest.param("# \xa0h\u2003", {0}, [(0, 1, "h")], id="a heading has no blank space of any kind around it"),
        pytest.param("h\n\x0c\n---\n# \xa0", {0, 1, 3}, [(0, 2, "h"), (3, 1, "")], id="nor has one with a line below"),
        pytest.param("\x0c\nh\n---", {0, 1}, [(1, 2, "h")], id="a heading is on the line of its first text"),
    ],
)
def test_odd_notes_have_this_text(
    plain_markdown: ModuleType, oracle: object, body: str, text: set[int], headings: list[tuple[int, int, str]]
) -> None:
    assert plain_markdown.differences([body], oracle) == []
    _, segments = plain_markdown.find_segments([body], every_line=True)
    assert set(segments.readable.nonzero()[0].tolist()) == text
    assert segments.headings.select("row", "level", "text").rows() == headings


@pytest.mark.parametrize("every_line", [False, True])
def test_reading_finds_the_text_of_thousands_of_lists_with_gaps(
    plain_markdown: ModuleType, oracle: object, every_line: bool
) -> None:
    source = random.Random(5)
    bodies = ["\n".join(source.choices(LISTED, k=source.randint(3, 7))) for _ in range(6000)]
    assert plain_markdown.differences(bodies, oracle, every_line=every_line) == []


BRACKETED = ("definition", "open_label", "footnote", "odd_footnote")
ANGLED = ("html_comment", "html_block", "html_lone", "html_verbatim")


@pytest.mark.parametrize(
    ("line", "flags"),
    [
        ("[a]: u", {"definition"}),
        (r"[a\]b]: u", {"definition"}),
        ("[a b", {"open_label"}),
        ("[a\\", {"open_label"}),
        ("[^f", {"open_label"}),
        (r"[^f\]: x", {"footnote", "open_label"}),
        ("[^f]: x", {"footnote"}),
        ("[^f]:", {"footnote", "odd_footnote"}),
        ("[^f]: [a]: u", {"footnote", "odd_footnote"}),
        ("[a]", set[str]()),
        ("[a] [b", set[str]()),
        ("[[a]]: u", set[str]()),
        ("<!-- a", {"html_comment"}),
        ("<DIV>", {"html_block", "html_lone"}),
        ("<\u017fection>", {"html_block"}),
        ("<x-y a='b'>", {"html_lone"}),
        ("<pre> a", {"html_verbatim"}),
        ("<pre>", {"html_verbatim", "html_lone"}),
        ("<?a", {"html_verbatim"}),
        ("<https://a.b>", set[str]()),
        ("< a", set[str]()),
    ],
)
def test_a_line_is_all_that_its_first_character_allows_and_the_rest_shows(line: str, flags: set[str]) -> None:
    for text in (line, f"  {line}", f"- {line}"):
        found = split_lines([f"{text}\nwords\n# words\n{text}"]).flags
        assert [{name for name in (*BRACKETED, *ANGLED) if found[name][row]} for row in (0, 1, 2, 3)] == [
            flags, set(), set(), flags,
        ]  # fmt: skip
