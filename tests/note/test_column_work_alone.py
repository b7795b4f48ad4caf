"""Column work in the caller's own thread gives what it gives elsewhere."""

import polars as pl
import pytest

from vaultgraph.note.alone import TEXTS, kept, made_of, selected

_WORDS = pl.Series("words", ["a-b", "", "c", None, "d-e-f"], dtype=pl.String)


@pytest.mark.parametrize("size", [0, 1, 5])
def test_an_expression_of_texts_keeps_their_name_and_rows(size: int) -> None:
    texts = _WORDS.head(size)
    assert made_of(texts, TEXTS.str.split("-")).equals(texts.str.split("-"), check_names=True)
    assert made_of(texts, TEXTS.str.contains("[bd]")).equals(texts.str.contains("[bd]"), check_names=True)


@pytest.mark.parametrize("count", [1, 2, 40])
def test_columns_that_were_asked_for_come_first(count: int) -> None:
    frame = pl.DataFrame([_WORDS])
    asked = [pl.col("words").str.starts_with("c").alias(f"c{number}") for number in range(count)]
    found = selected(frame, asked)
    assert pl.DataFrame(found.get_columns()[:count]).equals(frame.select(asked))
    assert found.height == frame.height


def test_rows_are_kept_in_all_columns() -> None:
    frame = pl.DataFrame([_WORDS, pl.Series("number", range(5))])
    chosen = pl.Series([True, False, False, True, True])
    assert kept(frame, chosen).equals(frame.filter(chosen))
    assert kept(frame, chosen & ~chosen).equals(frame.clear())
