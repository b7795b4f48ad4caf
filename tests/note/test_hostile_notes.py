"""Notes made to crash, hang or fill the memory of a reader: they cost their note something, never the batch."""

from collections.abc import Callable

import pytest

from vaultgraph.note.frontmatter import MOST_CHARS
from vaultgraph.note.properties import MOST_NODES
from vaultgraph.note.records import RecordTable

ReadOne = Callable[..., RecordTable]


def in_frontmatter(yaml: str) -> str:
    return f"---\n{yaml}\n---\n[[body]]"


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "yaml",
    [
        pytest.param(BOMB, id="aliases of aliases"),
        pytest.param("a: &a [*a]", id="a list that holds itself"),
        pytest.param("a: &a {b: *a}", id="a map that holds itself"),
        pytest.param("a: " + "[" * 900 + "]" * 900, id="deep lists"),
        pytest.param("a: " + "[" * 100_000, id="very deep lists"),
        pytest.param("a: " + "{a: " * 900 + "1" + "}" * 900, id="deep maps"),
        pytest.param("- " * 100_000 + "x", id="deep block lists"),
        pytest.param("? " * 100_000 + "x", id="deep complex keys"),
        pytest.param("\n".join(" " * depth + "a:" for depth in range(1100)), id="deep block maps"),
        pytest.param("a: [" + "x, " * (MOST_NODES + 1) + "]", id="many values"),
        pytest.param("a: " + "x" * (MOST_CHARS + 1), id="long text"),
        pytest.param("a: \x01", id="a control character"),
        pytest.param('a: "\\ud800"', id="half a surrogate pair"),
        pytest.param("a: *missing", id="an unknown alias"),
        pytest.param("%YAML 9.9\n---\na: 1", id="a directive"),
        pytest.param("!!python/object:os.system {}", id="a foreign object"),
    ],
)
def test_hostile_frontmatter_is_one_problem_and_the_body_is_read(read_one: ReadOne, yaml: str) -> None:
    records = read_one(in_frontmatter(yaml))
    assert records.problems.filter(records.problems["code"] == "bad-frontmatter").height <= 1
    assert records.properties.height <= MOST_NODES
    assert records.links["target"].to_list()[-1:] == ["body"]


def test_aliases_within_the_budget_are_followed(read_one: ReadOne) -> None:
    records = read_one(in_frontmatter("a: &a [x, y]\nb: *a"))
    assert records.properties.select("key", "text").rows() == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]


def test_a_number_with_thousands_of_digits_is_text(read_one: ReadOne) -> None:
    records = read_one(in_frontmatter("n: " + "9" * 10_000))
    assert records.properties["text"].str.len_chars().to_list() == [10_000]


SIZE = 200_000


@pytest.mark.parametrize(
    "unit",
    ["[", "![", "]", "](", "[a](", "[[", "[[a", "![[", "`", "``a", "`a``", "$", "$$", "$a", "%%", "<!--", "<", "<a ",
     '<a b="', "(", ")", "#", "\\", "[a][b]", "*", "_", "[a]: b ", "https://a)", "^a ", "[a](b \"", "![a](<", "\\`"],
)  # fmt: skip
def test_one_long_line_of_openers_is_read(read_one: ReadOne, unit: str) -> None:
    line = unit * (SIZE // len(unit))
    records = read_one(f"[[first]]\n\nx {line}\n\n[[last]]")
    assert records.links["target"].to_list()[0] == "first"
    assert records.links["target"].to_list()[-1] == "last"


@pytest.mark.parametrize(
    "line",
    ["```", "~~~", "%%", "$$", "<!--", "<div>", "> ", "- ", "  - ```", "    x", "---", "===", "|-|", "[a]: b", "$$x",
     "> > > ", "1. ", "<pre>", "\t", "# ", "[^1]: x", "- - - ```"],
)  # fmt: skip
def test_many_lines_of_markers_are_read(read_one: ReadOne, line: str) -> None:
    count = 20_000 if not line.startswith(("  -", "- -", "    ", "[a]", "<pre>")) else 2_000
    records = read_one("[[first]]\n\n" + f"{line}\n" * count)
    assert records.links["target"].to_list()[0] == "first"


def test_deeply_nested_quotes_and_lists_are_read(read_one: ReadOne) -> None:
    text = "[[first]]\n\n" + ">" * 5000 + " ```\n\n" + "- " * 5000 + "```\n[[x]]\n"
    assert read_one(text).links["target"].to_list()[0] == "first"


def test_every_link_of_a_long_line_is_found(read_one: ReadOne) -> None:
    records = read_one("[[a]] `x` [b](c) #t " * 10_000)
    assert records.links.height == 20_000
    assert records.tags.height == 10_000


def test_nested_images_stay_within_bounds(read_one: ReadOne) -> None:
    depth = 20_000
    records = read_one("![" * depth + "x" + "](y)" * depth)
    assert records.links.height == 1
