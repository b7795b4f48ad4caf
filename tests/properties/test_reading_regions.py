"""What is text and what is code, HTML, comment or math is what markdown-it-py says, for notes made to be misread.

The rules of the vault format that differ from CommonMark are listed in benchmarks/plain_markdown.py.
"""

from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


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
    ],
)
def test_odd_notes_have_this_text(
    plain_markdown: ModuleType, oracle: object, body: str, text: set[int], headings: list[tuple[int, int, str]]
) -> None:
    assert plain_markdown.differences([body], oracle) == []
    _, segments = plain_markdown.find_segments([body], every_line=True)
    assert set(segments.readable.nonzero()[0].tolist()) == text
    assert segments.headings.select("row", "level", "text").rows() == headings
