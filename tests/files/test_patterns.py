"""Patterns and globs: Python's spelling, linear time, errors that say where."""

import pytest

from vaultgraph.errors import ParameterError
from vaultgraph.files.globs import matching
from vaultgraph.files.text import compile_pattern, cut_around, lines_of, match_start, plain_text


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("{{title}}", "name: {{title}}"),
        ("a{b", "a{b"),
        ("a{,2}c", "aac"),
        ("a{2}c", "aac"),
        ("x{2,}", "xxx"),
        ("{1}", "{1}"),
        ("[[]", "see [[Note]]"),
        (r"\[\[Note\]\]", "see [[Note]]"),
        ("[]x]", "]"),
        ("[^]x]", "a"),
        ("[a&&b]", "&"),
        (r"[\]]", "]"),
        ("[[:digit:]]", "7"),
        (r"end\Z", "the end"),
        (r"\p{Greek}", "λ"),
        (r"\x{41}", "A"),
        (r"(?P<year>\d{4})", "in 1911"),
        (r"^\s*-\s", "  - item"),
        ("}", "a } b"),
    ],
)
def test_python_spellings_mean_what_they_mean_in_python(pattern, line):
    assert match_start([line], compile_pattern(pattern))[0] >= 0
    found = compile_pattern(pattern)
    import polars as pl

    assert pl.Series([line]).str.contains(found.line).to_list() == [True]


@pytest.mark.parametrize(
    ("pattern", "position", "reason"),
    [
        ("a(b", 1, "unclosed group"),
        ("ab[c-", 2, "unclosed character class"),
        ("*a", 0, "repetition"),
        (r"a\q", 1, "escape"),
        ("x(?=y)", 1, "look-around"),
        (r"(a)\1", 3, "backreferences"),
    ],
)
def test_a_bad_pattern_is_told_with_reason_and_place(pattern, position, reason):
    for ignore_case in (False, True):
        with pytest.raises(ParameterError) as error:
            compile_pattern(pattern, ignore_case=ignore_case)
        assert reason in error.value.message
        assert error.value.data["name"] == "pattern"
        assert error.value.data["position"] == position
        assert error.value.message.endswith(f"\n  {pattern}\n  {' ' * position}^")


@pytest.mark.parametrize("pattern", ["", "x" * 3000, r"(\w{100}){100}"])
def test_an_empty_or_too_big_pattern_is_a_parameter_error(pattern):
    with pytest.raises(ParameterError):
        compile_pattern(pattern)


@pytest.mark.parametrize("pattern", ["(" * 500, "(" * 300 + ")" * 300, "[" * 400, "{" * 50, "\\", "(?", "a{", "[\\"])
def test_odd_patterns_never_break_anything_else(pattern):
    try:
        compile_pattern(pattern)
    except ParameterError as error:
        assert error.message  # noqa: PT017


@pytest.mark.parametrize(
    ("glob", "chosen"),
    [
        (None, ["Home.md", "A/H1.md", "A/B/H2.MD", "A/x.png", "Ordner/é.md"]),
        ("*.md", ["Home.md", "A/H1.md", "A/B/H2.MD", "Ordner/é.md"]),
        ("h*", ["Home.md", "A/H1.md", "A/B/H2.MD"]),
        ("A/*", ["A/H1.md", "A/x.png"]),
        ("A/**", ["A/H1.md", "A/B/H2.MD", "A/x.png"]),
        ("**/H*.md", ["Home.md", "A/H1.md", "A/B/H2.MD"]),
        ("A/**/H*.md", ["A/H1.md", "A/B/H2.MD"]),
        ("/*.md", ["Home.md"]),
        ("H[0-9].md", ["A/H1.md", "A/B/H2.MD"]),
        ("H[!1]*.md", ["Home.md", "A/B/H2.MD"]),
        ("*.{png,canvas}", ["A/x.png"]),
        ("?.md", ["Ordner/é.md"]),
        ("ORDNER/É.md", ["Ordner/é.md"]),
        ("[", []),
        ("a.b", []),
        ("{", []),
        ("H1xmd", []),
    ],
)
def test_globs_choose_by_name_or_from_the_root(glob, chosen):
    paths = ["Home.md", "A/H1.md", "A/B/H2.MD", "A/x.png", "Ordner/é.md"]
    assert [path for path, is_chosen in zip(paths, matching(paths, glob), strict=True) if is_chosen] == chosen


def test_a_hostile_glob_is_answered_at_once():
    assert matching(["a" * 250], "*a" * 200 + "b") == [False]


@pytest.mark.parametrize("glob", ["", "x" * 501, "[z-a]"])
def test_a_glob_that_cannot_be_read_is_a_parameter_error(glob):
    with pytest.raises(ParameterError, match="glob"):
        matching(["a.md"], glob)


def test_text_loses_its_bom_and_its_kinds_of_line_ends():
    assert plain_text(b"\xef\xbb\xbfa\r\nb\rc\n") == ("a\nb\nc\n", True)
    assert plain_text(b"caf\xe9\r\n") == ("caf\ufffd\n", False)
    assert plain_text(b"a\0b\x0cc\xe2\x80\xa8d") == ("a\0b\x0cc\u2028d", True)
    assert lines_of("a\n\nb") == ["a", "", "b"]
    assert lines_of("a\x0cb\u2028c\n") == ["a\x0cb\u2028c"]
    assert lines_of("") == []
    assert lines_of("\n") == [""]


def test_a_long_line_is_cut_around_its_match():
    line = "ä" * 1000 + "needle" + "b" * 1000
    start = match_start([line], compile_pattern("needle"))[0]
    assert start == 1000
    cut = cut_around(line, start, 100)
    assert "needle" in cut
    assert len(cut) == 102
    assert cut[0] == cut[-1] == "…"
    assert cut_around("short", 2, 100) == "short"
