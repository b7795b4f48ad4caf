"""Searching files: the right lines, honest counts, nothing hidden."""

import os
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vaultgraph.errors import ParameterError, PathEscapeError
from vaultgraph.files.grep import grep


def lines(result) -> list[tuple[str, int, str]]:
    return [(line.path, line.line, line.text) for line in result.lines if line.is_match]


def test_matching_lines_come_with_path_and_number(make_vault):
    root = make_vault({"a.md": "one\ntwo faults\nthree", "B/c.md": "Faults\n\nfaults again\n", "d.md": ""})
    result = grep(root, "faults")
    assert lines(result) == [("B/c.md", 3, "faults again"), ("a.md", 2, "two faults")]
    assert (result.shown, result.total, result.files_with_matches, result.files_searched) == (2, 2, 2, 3)
    assert lines(grep(root, "faults", ignore_case=True))[0] == ("B/c.md", 1, "Faults")


def test_context_lines_are_given_once_and_stay_inside_the_file(make_vault):
    root = make_vault({"a.md": "0\nx\n2\nx\n4\n5\n6\nx"})
    result = grep(root, "x", context=1)
    assert [(line.line, line.is_match) for line in result.lines] == [
        (1, False), (2, True), (3, False), (4, True), (5, False), (7, False), (8, True),
    ]  # fmt: skip


@pytest.mark.parametrize(("most", "shown"), [(0, 0), (1, 1), (3, 3), (5, 5), (None, 5)])
def test_the_total_is_counted_beyond_what_is_shown(make_vault, most, shown):
    root = make_vault({"a.md": "x\nx\n", "b.md": "x\nno\nx\nx"})
    result = grep(root, "x", most_results=most)
    assert (result.shown, len(result.lines), result.total, result.files_with_matches) == (shown, shown, 5, 2)


def test_anchors_hold_for_every_line_and_empty_texts_have_none(make_vault):
    root = make_vault({"a.md": "foo\r\nbar\rfoo bar\n\n", "empty.md": "", "bom.md": b"\xef\xbb\xbffoo"})
    assert lines(grep(root, "^foo$")) == [("a.md", 1, "foo"), ("bom.md", 1, "foo")]
    assert lines(grep(root, "^$")) == [("a.md", 4, "")]
    assert lines(grep(root, r"\Afoo\Z")) == [("a.md", 1, "foo"), ("bom.md", 1, "foo")]
    assert lines(grep(root, r"foo\s+bar")) == [("a.md", 3, "foo bar")]
    assert grep(root, ".*").total == 5


def test_globs_and_a_given_list_of_files_narrow_the_search(make_vault):
    root = make_vault({"a.md": "x", "A/b.md": "x", "A/B/c.md": "x", "A/d.txt": "x"})
    assert [path for path, _, _ in lines(grep(root, "x", glob="A/*"))] == ["A/b.md", "A/d.txt"]
    assert [path for path, _, _ in lines(grep(root, "x", glob="*.md"))] == ["A/B/c.md", "A/b.md", "a.md"]
    assert [path for path, _, _ in lines(grep(root, "x", files=["a.md", "A/d.txt"]))] == ["a.md", "A/d.txt"]
    gone = grep(root, "x", files=["a.md", "gone.md"])
    assert gone.skipped == [("gone.md", "cannot be read (No such file or directory)")]


def test_what_is_not_searched_is_named(make_vault, folder, tmp_path):
    (tmp_path / "secret.md").write_text("needle")
    root = make_vault({
        "note.md": "needle", "latin.md": b"caf\xe9 needle", "nul.md": b"a\0b needle", "fake.png": "needle",
        "image.png": b"\x89PNG\r\n\x1a\nneedle", "data.bin": b"\0needle", "big.md": "needle\n" * 800_000,
        ".env": "needle", ".git/x.md": "needle",
    })  # fmt: skip
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    os.mkfifo(folder / "pipe.md")
    result = grep(root, "needle")
    assert [path for path, _, _ in lines(result)] == ["fake.png", "latin.md", "note.md", "nul.md"]
    assert result.not_utf8 == ["latin.md"]
    assert result.skipped == [("big.md", "over 5 MB"), ("data.bin", "binary"), ("image.png", "binary")]
    assert grep(root, "needle", files=["out.md", "pipe.md"]).total == 0


def test_long_lines_are_cut_around_the_match(make_vault):
    root = make_vault({"a.md": "x" * 3000 + "needle" + "y" * 3000})
    (line,) = grep(root, "needle").lines
    assert "needle" in line.text
    assert len(line.text) < 410


def test_a_hostile_pattern_takes_linear_time(make_vault):
    root = make_vault({"a.md": "a" * 50_000 + "b\n" + "ab" * 20_000})
    assert grep(root, "(a+)+$").total == 0
    assert grep(root, "(a|a)*c").total == 0
    assert grep(root, "(.*)(.*)(.*)(.*)x$").total == 0


def test_the_caller_can_stop_a_search_between_batches(make_vault):
    root = make_vault({f"{number}.md": "x" * 4_000_000 for number in range(9)})
    calls: list[int] = []

    def check() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        grep(root, "y", check=check)
    assert len(calls) == 2


def test_bad_arguments_are_parameter_errors(make_vault):
    root = make_vault({"a.md": "x"})
    for wrong in ({"pattern": "("}, {"pattern": "x", "context": -1}, {"pattern": "x", "most_results": -1}):
        with pytest.raises(ParameterError):
            grep(root, **wrong)
    with pytest.raises(PathEscapeError):
        grep(root, "x", files=["../secret.md"])


PIECES = st.sampled_from(["a", "b", "ab", "\n", "\r\n", "\r", " ", "", "é", "[[x]]", "{", "#"])
PATTERNS = [
    "a",
    "^a",
    "b$",
    "^$",
    "a.b",
    r"\s",
    "[^a]",
    r"a\s*b",
    r"\bab\b",
    "(a|b)+",
    r"\[\[x\]\]",
    "{",
    "^[ab]*$",
    r"\Aab",
]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.lists(PIECES, max_size=12).map("".join), min_size=1, max_size=4),
    pattern=st.sampled_from(PATTERNS),
)
def test_results_equal_a_search_line_by_line(make_vault, folder, texts, pattern):
    for place in folder.iterdir():
        place.unlink()
    root = make_vault({f"{number}.md": text for number, text in enumerate(texts)})
    expected = []
    for number, text in enumerate(texts):
        plain = text.replace("\r\n", "\n").replace("\r", "\n")
        rows = plain.removesuffix("\n").split("\n") if plain else []
        expected += [(f"{number}.md", row + 1, line) for row, line in enumerate(rows) if re.search(pattern, line)]
    result = grep(root, pattern, most_results=None)
    assert lines(result) == expected
    assert result.total == len(expected)
