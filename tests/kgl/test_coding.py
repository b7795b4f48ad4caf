"""Packed numbers and shared texts: exact, small where they can be, and refused where they lie."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.errors import CorruptKglError
from vaultgraph.kgl.arrays import pack_series, text_columns, unpack_series
from vaultgraph.kgl.coding import BLOCKS, STEPS, pack_numbers, unpack_numbers_of
from vaultgraph.kgl.layout import HEADER_BYTES, Header, Section, pack_contents, pack_header
from vaultgraph.kgl.reader import open_kgl
from vaultgraph.kgl.texts import SharedTexts
from vaultgraph.kgl.writer import write_sections

DTYPES = ("<u1", "<i4", "<u4", "<i8", "<f8")


@st.composite
def arrays(draw) -> np.ndarray:
    dtype = draw(st.sampled_from(DTYPES))
    count = draw(st.integers(600, 4000))
    seed = np.random.default_rng(draw(st.integers(0, 2**32)))
    most = draw(st.sampled_from([1, 2, 200, 256, 2**16, 2**31, 2**63]))
    numbers = seed.integers(0, most, count, dtype=np.uint64).view(np.int64)
    if draw(st.booleans()):
        numbers = np.sort(numbers)
    return numbers.view("<f8") if dtype == "<f8" else numbers.astype(dtype)


@settings(max_examples=150, deadline=None)
@given(values=arrays())
def test_packed_numbers_come_back_bit_by_bit(values):
    packed = pack_numbers(values)
    if packed is not None:
        coding, data = packed
        assert len(data) < values.nbytes
        again = unpack_numbers_of(memoryview(data), coding, values.itemsize, len(values))
        assert again is not None
        assert again.tobytes() == values.tobytes()


def test_the_least_and_the_greatest_numbers_side_by_side_come_back():
    values = np.array([-(2**63), 2**63 - 1, 0, -1] * 1000, dtype="<i8")
    values[:3000] = 5
    packed = pack_numbers(values)
    assert packed is not None
    again = unpack_numbers_of(memoryview(packed[1]), packed[0], 8, len(values))
    assert again is not None
    assert again.tobytes() == values.tobytes()


@pytest.mark.parametrize(
    ("values", "most_bytes"),
    [(np.zeros(10_000, "<i8"), 90), (np.arange(10_000, dtype="<u4") * 3, 1200), (np.arange(10_000) % 250, 10_100)],
)
def test_equal_rising_and_small_numbers_take_few_bytes(values, most_bytes):
    packed = pack_numbers(values)
    assert packed is not None
    assert len(packed[1]) <= most_bytes


@pytest.mark.parametrize("coding", [BLOCKS, STEPS])
@pytest.mark.parametrize("data", [b"", b"\1" * 9, b"\3" + bytes(8), b"\1" + bytes(8), b"\0" + bytes(9)])
def test_bytes_that_are_no_packed_numbers_are_refused(coding, data):
    assert unpack_numbers_of(memoryview(data), coding, 4, 7) is None


def test_a_small_file_cannot_ask_for_much_memory(tmp_path):
    section = Section("a", HEADER_BYTES, 9, 0, BLOCKS, 8, 1 << 40)
    contents = pack_contents([section], {})
    header = Header(128, len(contents), __import__("zlib").crc32(contents), 128 + len(contents))
    (tmp_path / "x").write_bytes(pack_header(header) + bytes(64) + contents)
    with pytest.raises(CorruptKglError, match="memory"):
        open_kgl(tmp_path / "x")


WORDS = [f"word {number % 40} ä" for number in range(300)]
COLUMNS = {
    "plain": pl.Series("s", WORDS),
    "gaps": pl.Series("s", [None if number % 3 else text for number, text in enumerate(WORDS)]),
    "lists": pl.Series("s", [[text, None] if number % 2 else None for number, text in enumerate(WORDS)]),
    "fields": pl.Series("s", [{"kind": 1, "text": text} for text in WORDS]),
    "short": pl.Series("s", WORDS[:5]),
    "nothing": pl.Series("s", [None] * 300, dtype=pl.String),
    "long": pl.Series("s", [text * 40 for text in WORDS]),
    "empty": pl.Series("s", [], dtype=pl.String),
}


def stored(tmp_path, columns):
    texts = SharedTexts({name: column for key, whole in columns.items() for name, column in text_columns(key, whole)})
    sections = [*pack_series("texts", texts.texts)]
    sections += [section for name, column in columns.items() for section in pack_series(name, column, texts)]
    write_sections(tmp_path / "x", sections, {})
    return open_kgl(tmp_path / "x"), len(texts.texts)


def test_texts_that_columns_share_lie_in_the_file_once_and_come_back(tmp_path):
    file, count = stored(tmp_path, COLUMNS)
    assert count == 256  # forty, and room for more
    assert {name for name in file.names() if name.endswith(".places")} == {
        "plain.places", "gaps.places", "lists.item.places", "fields.text.places",
    }  # fmt: skip
    texts = unpack_series(file, "texts", pl.String(), count)
    for name, column in COLUMNS.items():
        again = unpack_series(file, name, column.dtype, len(column), texts)
        assert again.dtype == column.dtype
        assert again.to_list() == column.to_list()


def test_places_of_texts_that_are_not_there_are_damage(tmp_path):
    file, count = stored(tmp_path, COLUMNS)
    texts = unpack_series(file, "texts", pl.String(), count)
    for known in (None, texts.head(39)):
        for name in ("plain", "gaps", "lists", "fields"):
            with pytest.raises(CorruptKglError, match="not there"):
                unpack_series(file, name, COLUMNS[name].dtype, 300, known)


def test_a_new_text_leaves_the_places_of_texts_that_other_columns_added():
    columns = {"first": [f"a{number}" for number in range(300)], "second": [f"b{number}" for number in range(300)]}
    columns["third"] = columns["second"][::-1]
    grown = columns | {"first": [*columns["first"][:9], "new", *columns["first"][9:]]}
    before, after = (SharedTexts({name: pl.Series(texts) for name, texts in each.items()}) for each in (columns, grown))
    for name in ("second", "third"):
        places = after.places(name)
        assert places is not None
        assert places.tolist() == before.places(name).tolist()
        assert after.texts.gather(places).to_list() == columns[name]


def test_the_texts_of_the_first_columns_come_first():
    columns = {name: pl.Series([f"{name}{number}" for number in range(70)]) for name in ("one", "two", "three")}
    texts = SharedTexts(columns, ["one", "two"])
    assert texts.texts.head(texts.early).filter(texts.texts.head(texts.early) != "").to_list() == [
        *columns["one"],
        *columns["two"],
    ]
    assert int(max(texts.places("two"))) < texts.early <= int(min(texts.places("three")))
