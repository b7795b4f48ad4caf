"""Series on disk: exact, canonical, and checked on the way in."""

from collections.abc import Iterator
from datetime import UTC, date, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vaultgraph.errors import CorruptKglError
from vaultgraph.kgl.arrays import pack_series, unpack_numbers, unpack_series
from vaultgraph.kgl.reader import open_kgl
from vaultgraph.kgl.writer import write_sections

VARIANT = pl.Struct({"kind": pl.UInt8, "number": pl.Int64, "real": pl.Float64, "text": pl.String})
INT64 = st.integers(-(2**63), 2**63 - 1)
CELLS = {
    pl.Boolean(): st.booleans(),
    pl.UInt8(): st.integers(0, 255),
    pl.UInt32(): st.integers(0, 2**32 - 1),
    pl.Int32(): st.integers(-(2**31), 2**31 - 1),
    pl.Int64(): INT64,
    pl.Float64(): st.floats(allow_nan=False),
    pl.String(): st.text(max_size=30),
    pl.Binary(): st.binary(max_size=30),
    pl.Date(): st.dates(),
    pl.Datetime("us"): st.datetimes(),
    pl.Datetime("us", "UTC"): st.datetimes(timezones=st.just(UTC)),
    VARIANT: st.fixed_dictionaries({
        "kind": st.none() | st.integers(0, 9), "number": st.none() | INT64,
        "real": st.none() | st.floats(allow_nan=False), "text": st.none() | st.text(max_size=20),
    }),
}  # fmt: skip
LISTS = {pl.List(dtype): st.lists(st.none() | cells, max_size=4) for dtype, cells in CELLS.items()}


@st.composite
def any_series(draw) -> pl.Series:
    dtype, cells = draw(st.sampled_from([*CELLS.items(), *LISTS.items()]))
    series = pl.Series("s", draw(st.lists(st.none() | cells, max_size=12)), dtype=dtype)
    start = draw(st.integers(0, len(series)))
    return series.slice(start, draw(st.integers(0, len(series))))


def whole(piece) -> bytes:
    """The bytes of a section, which may come in parts."""
    return b"".join(bytes(memoryview(part)) for part in (piece if isinstance(piece, Iterator) else [piece]))


@pytest.fixture
def stored(tmp_path):
    def store(series: pl.Series):
        write_sections(tmp_path / "x", pack_series("s", series), {})
        return open_kgl(tmp_path / "x")

    return store


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(series=any_series())
def test_every_series_comes_back_exactly(stored, series):
    again = unpack_series(stored(series), "s", series.dtype, len(series))
    assert again.dtype == series.dtype
    assert again.to_list() == series.to_list()


@settings(max_examples=100, deadline=None)
@given(series=any_series())
def test_the_bytes_depend_on_the_values_only(series):
    halves = pl.concat([series.head(len(series) // 2), series.slice(len(series) // 2)], rechunk=False)
    padded = pl.concat([series, series, series]).slice(len(series), len(series))
    reference = [(name, whole(piece)) for name, piece in pack_series("s", series)]
    for other in (halves, padded, series.clone().alias("other")):
        assert [(name, whole(piece)) for name, piece in pack_series("s", other)] == reference


def test_not_a_number_stays_what_it_is(stored):
    again = unpack_series(stored(pl.Series("s", [float("nan"), None, -0.0])), "s", pl.Float64(), 3)
    assert again.is_nan().to_list() == [True, None, False]
    assert np.signbit(again[2])


def test_long_texts_come_back_part_by_part(stored):
    series = pl.Series("s", ["ä" * 900_000, None, "", "b" * 3_000_000, "c", "ö" * 1_500_000])
    again = unpack_series(stored(series), "s", pl.String(), 6)
    assert again.to_list() == series.to_list()


def test_long_texts_of_a_wrong_checksum_are_damage(tmp_path, stored):
    file = stored(pl.Series("s", ["a" * 3_000_000, "b" * 3_000_000]))
    with (tmp_path / "x").open("r+b") as changed:
        changed.seek(4_000_000)
        changed.write(b"x")
    with pytest.raises(CorruptKglError, match="checksum"):
        unpack_series(file, "s", pl.String(), 2)


def test_a_dtype_without_a_form_is_refused():
    with pytest.raises(TypeError, match="no form on disk"):
        list(pack_series("s", pl.Series([1], dtype=pl.Int8)))


def broken(tmp_path, series: pl.Series, name: str, content: bytes):
    """The file of ``series`` with another content of the section ``name``, its checksums right."""
    pieces = {key: whole(piece) for key, piece in pack_series("s", series)} | {name: content}
    write_sections(tmp_path / "x", pieces.items(), {})
    return open_kgl(tmp_path / "x")


def offsets(*numbers: int) -> bytes:
    return np.array(numbers, dtype="<i4").tobytes()


TEXTS = pl.Series("s", ["äb", "cd"])
DATES = pl.Series("s", [date(2020, 1, 1)])
TIMES = pl.Series("s", [datetime(2020, 1, 1)])
LISTED = pl.Series("s", [[1, 2], [3]])


@pytest.mark.parametrize(
    ("series", "name", "content"),
    [
        (TEXTS, "s.offsets", offsets(0, 1, 5)),  # inside the ä
        (TEXTS, "s.offsets", offsets(0, 6, 5)),
        (TEXTS, "s.offsets", offsets(1, 3, 5)),
        (TEXTS, "s.offsets", offsets(0, -3, 5)),
        (TEXTS, "s.offsets", offsets(0, 3, 6)),
        (TEXTS, "s.offsets", offsets(0, 3, 4)),
        (TEXTS, "s.offsets", offsets(0, 3)),
        (TEXTS, "s.offsets", offsets(0, 2**31 - 1, 2**31 - 1)),
        (TEXTS, "s", b"\xff\xfebcd"),
        (TEXTS, "s", b"abcd"),
        (TEXTS, "s", b"\xc3\xa4bc\xc3"),
        (TEXTS, "s.valid", b""),
        (TEXTS, "s.valid", b"\1\1"),
        (DATES, "s", np.array([2**31 - 1], dtype="<i4").tobytes()),
        (DATES, "s", np.array([-(2**31)], dtype="<i4").tobytes()),
        (TIMES, "s", np.array([2**63 - 1], dtype="<i8").tobytes()),
        (TIMES, "s", b"1234567"),
        (LISTED, "s.offsets", offsets(0, 2, 4)),
        (LISTED, "s.offsets", offsets(0, 2, 2**30)),
        (LISTED, "s.offsets", offsets(0, 5, 3)),
        (pl.Series("s", [True]), "s", b""),
    ],
)
def test_content_that_breaks_the_form_is_damage(tmp_path, series, name, content):
    file = broken(tmp_path, series, name, content)
    with pytest.raises(CorruptKglError):
        unpack_series(file, "s", series.dtype, len(series))


@pytest.mark.parametrize("rows", [-1, 2, 2**40, True, 1.0, None])
def test_a_wrong_number_of_rows_is_damage(stored, rows):
    file = stored(pl.Series("s", [5]))
    with pytest.raises(CorruptKglError):
        unpack_series(file, "s", pl.Int64(), rows)
    with pytest.raises(CorruptKglError):
        unpack_numbers(file, "s", "<u4", 1)
    with pytest.raises(CorruptKglError):
        unpack_series(file, "other", pl.Int64(), 1)


@pytest.mark.parametrize("cells", [[True, False, False, None], [7, None, 9, None]])
def test_a_row_more_leaves_what_is_written_of_the_rows_after_it(cells):
    rows = [cells[number * number % 7 % 4] for number in range(5000)]
    before, after = (
        dict(pack_series("s", pl.Series("s", each))) for each in (rows, [*rows[:2000], cells[0], *rows[2000:]])
    )
    for name, piece in before.items():
        old, new = whole(piece), whole(after[name])
        start = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), len(old))
        end = next((at for at, (one, other) in enumerate(zip(old[::-1], new[::-1], strict=False)) if one != other), 0)
        assert len(old) - start - end <= 16
