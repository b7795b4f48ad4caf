"""Folding names: whole columns give what folding each name by itself gives."""

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.graph.names import extension, fold, fold_text, without_md

MARKS = "\u0301\u0308\u0323\u0345\u3099\u11a8\u1161"
MANY = 65  # times a name, which makes a column that is not taken name by name
LETTERS = "aÅåßΣσςİıſŉǰᾳΐДдёあがカ각가中🙂µẞ-/ "


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.text(st.sampled_from(LETTERS + MARKS), max_size=5), max_size=6))
def test_a_column_folds_as_each_of_its_names(names: list[str]) -> None:
    for column in (names, names * MANY):
        assert fold(pl.Series(column, dtype=pl.String)).to_list() == [fold_text(name) for name in column]


def test_every_character_folds_as_python_folds_it() -> None:
    characters = [chr(code) for code in range(0x20000) if not 0xD800 <= code < 0xE000]
    assert fold(pl.Series(characters)).to_list() == [fold_text(character) for character in characters]


def test_lowered_names_stay_normal_whatever_stands_beside_a_character() -> None:
    pairs = [first + second for first in LETTERS for second in map(chr, range(0x20, 0x3100))]
    assert fold(pl.Series(pairs)).to_list() == [fold_text(pair) for pair in pairs]


def test_missing_names_stay_missing() -> None:
    assert fold(pl.Series([None, "Ä", "ß"])).to_list() == [None, "ä", "ss"]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(st.sampled_from("a.M9md/é \n"), max_size=9))
def test_a_name_has_the_extension_it_has_among_many(name: str) -> None:
    for shaped in (extension, without_md):
        few, many = (shaped(pl.Series(column)).to_list() for column in ([name], [name] * MANY))
        assert many == few * MANY


def test_an_extension_is_short_and_has_a_letter() -> None:
    names = ["a.png", "v1.2", "a/b.x/c", ".md", "a.", "a.PDF", "a.b\n", f"a.{'x' * 13}", "é.7z"]
    expected = ["png", None, None, None, None, "pdf", None, None, "7z"]
    assert extension(pl.Series(names)).to_list() == expected
    assert extension(pl.Series(names * MANY)).to_list() == expected * MANY
