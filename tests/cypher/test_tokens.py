"""Splitting a query into tokens."""

import pytest

from vaultgraph.cypher.tokens import LONGEST_QUERY_CHARS, split_tokens
from vaultgraph.errors import QuerySyntaxError


def values(text: str) -> list[str]:
    return split_tokens(text).values[:-1]


def kinds(text: str) -> list[str]:
    return list(split_tokens(text).kinds[:-1])


def refusal(text: str) -> QuerySyntaxError:
    with pytest.raises(QuerySyntaxError) as caught:
        split_tokens(text)
    return caught.value


def test_spans_are_exact_character_offsets():
    text = "MATCH (日本:`Field Notes`) // all\nRETURN 日本.`a``b`"
    tokens = split_tokens(text)
    shown = [text[start:end] for start, end in zip(tokens.starts, tokens.ends, strict=True)]
    assert shown == ["MATCH", "(", "日本", ":", "`Field Notes`", ")", "RETURN", "日本", ".", "`a``b`", ""]
    assert tokens.values[4] == "Field Notes"
    assert tokens.values[9] == "a`b"
    assert tokens.kinds[-1] == "end"


def test_words_are_upper_case_for_plain_names_only():
    assert split_tokens("match `match` 'match' $match").words == ["MATCH", "", "", "", ""]


@pytest.mark.parametrize(
    "name", ["n", "_n1", "Geología", "日本語", "नमस्ते", "Ünïcode", "e\u0301te\u0301", "ΑΒΓ", "имя2"]
)
def test_letters_and_marks_of_any_script_make_a_name(name):
    assert kinds(f"({name})") == ["symbol", "name", "symbol"]
    assert values(name) == [name]


def test_an_emoji_needs_backticks():
    assert values("`🎉 party`") == ["🎉 party"]
    error = refusal("MATCH (n:🎉)")
    assert "backticks" in str(error)
    assert (error.start, error.end) == (9, 10)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1..3", ["1", "..", "3"]),
        ("*..5", ["*", "..", "5"]),
        ("*2..", ["*", "2", ".."]),
        ("1.5", ["1.5"]),
        (".5", [".5"]),
        ("1e3 1.5E-7 .5e+2", ["1e3", "1.5E-7", ".5e+2"]),
        ("0x1F 0o17 0", ["0x1F", "0o17", "0"]),
        ("1_000_000", ["1_000_000"]),
        ("n.x-1", ["n", ".", "x", "-", "1"]),
        ("1-2", ["1", "-", "2"]),
        ("a<>b<=c>=d=~e||f", ["a", "<>", "b", "<=", "c", ">=", "d", "=~", "e", "||", "f"]),
        ("<-[:T]->", ["<", "-", "[", ":", "T", "]", "-", ">"]),
    ],
)
def test_numbers_and_symbols(text, expected):
    if text.count("[") == text.count("]"):
        assert values(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"'a\'b'", "a'b"),
        (r'"a\"b"', 'a"b'),
        (r"'\n\t\\'", "\n\t\\"),
        (r"'\u00e9\U0001F600'", "é😀"),
        (r"'\uD83D\uDE00'", "😀"),
        ("'two\nlines'", "two\nlines"),
        ("'// no comment'", "// no comment"),
        ("''", ""),
    ],
)
def test_strings_are_decoded(text, expected):
    tokens = split_tokens(text)
    assert tokens.kinds[0] == "string"
    assert tokens.values[0] == expected


def test_parameters_may_have_odd_names_and_numbers():
    tokens = split_tokens("$name $`odd name` $0")
    assert tokens.kinds[:3] == ["parameter"] * 3
    assert tokens.values[:3] == ["name", "odd name", "0"]


def test_comments_are_white_space():
    assert values("RETURN /* one\n * two */ 1 // end") == ["RETURN", "1"]


def test_brackets_are_paired():
    assert split_tokens("([{}])").closers == {0: 5, 1: 4, 2: 3}


@pytest.mark.parametrize(
    ("text", "start", "end", "part"),
    [
        ("RETURN 'abc", 7, 11, "its ' is missing"),
        ("RETURN `abc", 7, 11, "backticks is not closed"),
        ("RETURN /* abc", 7, 13, "comment is not closed"),
        ("RETURN 0x1A2bj4", 7, 15, "not a number"),
        ("RETURN {1a: 2}", 8, 10, "not a number"),
        ("RETURN 007", 7, 10, "write 7"),
        (r"RETURN '\uH'", 8, 10, "4 hexadecimal digits"),
        (r"RETURN '\d+'", 8, 10, r"write \\d"),
        (r"RETURN '\U00110000'", 8, 18, "last Unicode character"),
        (r"RETURN '\uD83D'", 8, 14, "surrogate"),
        ("RETURN 42 — 41", 10, 11, "write -"),
        ("RETURN “a”", 7, 8, 'write "'),
        ("RETURN $", 7, 8, "needs a name"),
        ("RETURN ``", 7, 9, "cannot be empty"),
        ("RETURN a # b", 9, 10, "no meaning"),
        ("MATCH (n RETURN n", 6, 7, "This ( is not closed"),
        ("RETURN [1, {a: 2]", 11, 12, "This { is not closed"),
        ("RETURN 1)", 8, 9, "closes nothing"),
    ],
)
def test_what_cannot_be_a_token_is_refused_where_it_stands(text, start, end, part):
    error = refusal(text)
    assert (error.start, error.end) == (start, end)
    assert part in error.reason


def test_a_query_beyond_the_cap_is_refused():
    assert "over the cap" in refusal("RETURN 1 " + " " * LONGEST_QUERY_CHARS).reason


def test_a_very_long_run_of_brackets_is_split_in_one_pass():
    assert len(split_tokens("(" * 100_000 + ")" * 100_000).closers) == 100_000
