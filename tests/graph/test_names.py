"""Folding names: whole columns give what folding each name by itself gives."""

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.graph.names import fold, fold_text

MARKS = "\u0301\u0308\u0323\u0345\u3099\u11a8\u1161"
LETTERS = "aÅåßΣσςİıſŉǰᾳΐДдёあがカ각가中🙂µẞ-/ "


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.text(st.sampled_from(LETTERS + MARKS), max_size=5), max_size=6))
def test_a_column_folds_as_each_of_its_names(names: list[str]) -> None:
    assert fold(pl.Series(names, dtype=pl.String)).to_list() == [fold_text(name) for name in names]


def test_every_character_folds_as_python_folds_it() -> None:
    characters = [chr(code) for code in range(0x20000) if not 0xD800 <= code < 0xE000]
    assert fold(pl.Series(characters)).to_list() == [fold_text(character) for character in characters]


def test_lowered_names_stay_normal_whatever_stands_beside_a_character() -> None:
    pairs = [first + second for first in LETTERS for second in map(chr, range(0x20, 0x3100))]
    assert fold(pl.Series(pairs)).to_list() == [fold_text(pair) for pair in pairs]


def test_missing_names_stay_missing() -> None:
    assert fold(pl.Series([None, "Ä", "ß"])).to_list() == [None, "ä", "ss"]
