"""Polars series as sections of a .kgl container and back.

A series is written as the buffers Arrow would hold, in one canonical form: no offsets, no null numbers, no validity
where nothing is null. The bytes therefore depend on the values alone, not on how a series came about or which
library version wrote it. Everything read is checked: lengths, offsets, UTF-8, date ranges. Polars does it all by
itself: loading pyarrow would take a start longer than reading the file.

Sections of a series NAME: ``NAME`` values (numbers, runs of booleans, or the bytes of texts); ``NAME.valid`` runs of
nulls; ``NAME.offsets`` int32[n+1] of texts and lists; ``NAME.places`` uint32[n] of texts among shared ones (kgl/texts),
in place of the former; ``NAME.item`` the items of a list; ``NAME.<field>`` the fields of a struct.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from vaultgraph.errors import CorruptKglError, KglError
from vaultgraph.kgl.reader import KglFile
from vaultgraph.kgl.texts import SharedTexts
from vaultgraph.kgl.writer import Part, Piece

_FIXED: Final[dict[pl.DataType, str]] = {
    pl.UInt8(): "<u1",
    pl.UInt32(): "<u4",
    pl.Int32(): "<i4",
    pl.Int64(): "<i8",
    pl.Float64(): "<f8",
    pl.Date(): "<i4",
    pl.Datetime("us"): "<i8",
    pl.Datetime("us", "UTC"): "<i8",
}
# Days and microseconds since 1970 that Python can show as a date: years 1 to 9999.
_DATE_RANGE: Final = (-719_162, 2_932_896)
_DATETIME_RANGE: Final = (-62_135_596_800_000_000, 253_402_300_799_999_999)
_MOST_ROWS: Final = 2**31 - 2
_PART_BYTES: Final = 1 << 21


def text_columns(name: str, series: pl.Series) -> Iterator[tuple[str, pl.Series]]:
    """The columns of texts in ``series``, by name of their section: itself, the items of its lists, its fields."""
    dtype = series.dtype
    if isinstance(dtype, pl.Struct):
        for field in dtype.fields:
            yield from text_columns(f"{name}.{field.name}", series.struct.field(field.name))
    elif isinstance(dtype, pl.List):
        yield from text_columns(f"{name}.item", _items_of(series, dtype))
    elif dtype == pl.String():
        yield name, series


def pack_series(name: str, series: pl.Series, texts: SharedTexts | None = None) -> Iterator[tuple[str, Piece]]:
    """The sections of ``series``; what is in ``texts`` is stored by its places there.

    dtypes: Boolean, UInt8, UInt32, Int32, Int64, Float64, Date, Datetime("us") with UTC or none, String, Binary, and
    List and Struct of these.

    Raises:
        KglError: more than 2 GiB of text in one series.
        TypeError: another dtype.
    """
    if series.null_count():
        yield f"{name}.valid", _runs_of(series.is_not_null())
    dtype = series.dtype
    if isinstance(dtype, pl.Struct):
        for field in dtype.fields:
            yield from pack_series(f"{name}.{field.name}", series.struct.field(field.name), texts)
    elif isinstance(dtype, pl.List):
        lengths = series.list.len().fill_null(0).to_numpy()
        yield f"{name}.offsets", _offsets_from(lengths, name)
        yield from pack_series(f"{name}.item", _items_of(series, dtype), texts)
    elif texts and (places := texts.places(name)) is not None:
        filled = places[series.is_not_null().to_numpy()] if series.null_count() else places
        yield f"{name}.places", filled.astype("<u4", copy=False)
    elif dtype in (pl.String(), pl.Binary()):
        yield from _pack_texts(name, series)
    elif dtype == pl.Boolean():
        yield name, _runs_of(series.fill_null(False))
    elif dtype in _FIXED:
        yield name, series.to_physical().drop_nulls().to_numpy().astype(_FIXED[dtype], copy=False)
    else:
        raise TypeError(f"no form on disk for a series of {dtype}")


def unpack_series(file: KglFile, name: str, dtype: pl.DataType, rows: int, texts: pl.Series | None = None) -> pl.Series:
    """The series ``name`` of ``rows`` rows; numbers share the memory of ``file``, texts among ``texts`` that of these.

    Raises:
        CorruptKglError: a section is missing, damaged, of the wrong length, or holds what the dtype does not allow.
    """
    if type(rows) is not int or not 0 <= rows <= _MOST_ROWS:
        raise CorruptKglError(f"{file.path}: damaged (series {name!r} has {rows!r} rows).")
    return _unpack(file, name, dtype, rows, texts).alias(name)


def is_valid(file: KglFile, name: str, rows: int) -> npt.NDArray[np.bool_] | None:
    """``bool[rows]``: which rows of the series ``name`` are not null; None where all are.

    Raises:
        CorruptKglError: the section that says so is damaged or of another length.
    """
    return _flags(file, f"{name}.valid", rows) if f"{name}.valid" in file else None


def unpack_numbers(file: KglFile, name: str, dtype: str, rows: int) -> npt.NDArray[Any]:
    """A plain section of ``rows`` numbers as a read-only array sharing the memory of ``file``.

    Raises:
        CorruptKglError: it is missing, damaged or of another length.
    """
    view = file.section(name)
    width = np.dtype(dtype).itemsize
    if len(view) != rows * width:
        raise CorruptKglError(f"{file.path}: damaged (section {name!r} has the wrong length).")
    return np.frombuffer(view, dtype=dtype)


def _unpack(file: KglFile, name: str, dtype: pl.DataType, rows: int, texts: pl.Series | None) -> pl.Series:
    is_there = is_valid(file, name, rows)
    if isinstance(dtype, pl.Struct):
        fields = [(field.name, _instance(field.dtype)) for field in dtype.fields]
        parts = [_unpack(file, f"{name}.{key}", inner, rows, texts).alias(key) for key, inner in fields]
        return _with_nulls(pl.DataFrame(parts).to_struct(name), is_there)
    if isinstance(dtype, pl.List):
        offsets = _offsets(file, name, rows)
        items = _unpack(file, f"{name}.item", _instance(dtype.inner), int(offsets[-1]), texts)
        if not rows:
            return items.implode().clear()
        cut = pl.lit(items.implode()).list.slice(pl.col("first"), pl.col("length"))
        return _with_nulls(_places_of(offsets).select(cut).to_series().cast(dtype), is_there)
    if dtype == pl.String() and f"{name}.places" in file:
        return _placed(file, name, rows, is_there, texts)
    if dtype in (pl.String(), pl.Binary()):
        return _with_nulls(_texts(file, name, dtype, rows), is_there)
    if dtype == pl.Boolean():
        return _with_nulls(pl.Series(name, _flags(file, name, rows), dtype=dtype), is_there)
    values = _numbers(file, name, dtype, rows, is_there)
    return _with_nulls(pl.Series(name, values).cast(dtype), is_there)


def _numbers(
    file: KglFile, name: str, dtype: pl.DataType, rows: int, is_there: npt.NDArray[np.bool_] | None
) -> npt.NDArray[Any]:
    """The numbers of all rows, 0 for null, as the numbers that ``dtype`` is made of."""
    code = _FIXED[dtype]
    if is_there is None:
        values = unpack_numbers(file, name, code, rows)
    else:
        values = np.zeros(rows, dtype=code)
        values[is_there] = unpack_numbers(file, name, code, int(is_there.sum()))
    _check_range(file, name, dtype, values)
    return values


def _placed(
    file: KglFile, name: str, rows: int, is_there: npt.NDArray[np.bool_] | None, texts: pl.Series | None
) -> pl.Series:
    """A series of shared texts by their places."""
    places = unpack_numbers(file, f"{name}.places", "<u4", rows if is_there is None else int(is_there.sum()))
    if texts is None or (len(places) and int(places.max()) >= len(texts)):
        raise CorruptKglError(f"{file.path}: damaged ({name!r} names texts that are not there).")
    if is_there is None:
        return texts.gather(pl.Series(places)) if rows else texts.clear()
    full = np.zeros(rows, dtype=np.uint32)
    full[is_there] = places
    return texts.gather(_with_nulls(pl.Series(full), is_there))


def _flags(file: KglFile, name: str, rows: int) -> npt.NDArray[np.bool_]:
    """``bool[rows]`` from the lengths of its runs: false, true, false…"""
    runs = np.frombuffer(file.section(name), dtype=np.uint8)
    runs = runs.view("<u4") if len(runs) % 4 == 0 else None
    if runs is None or int(runs.sum(dtype=np.uint64)) != rows:
        raise CorruptKglError(f"{file.path}: damaged (section {name!r} has the wrong length).")
    return np.repeat(np.arange(len(runs)) % 2 == 1, runs)


def _texts(file: KglFile, name: str, dtype: pl.DataType, rows: int) -> pl.Series:
    """Texts that lie side by side, about _PART_BYTES at a time: those of bodies are never held twice."""
    offsets = _offsets(file, name, rows).astype(np.int64)
    cuts = _cuts(offsets)
    found = [pl.Series([], dtype=pl.Binary)]
    # The checksum is of the whole: what is made before the last part was read is thrown away where it is wrong.
    for (first, stop), part in zip(cuts, file.in_parts(name, [int(offsets[stop]) for _, stop in cuts]), strict=True):
        cut = pl.lit(pl.Series([part])).bin.slice(pl.col("first"), pl.col("length"))
        found.append(_places_of(offsets[first : stop + 1] - offsets[first]).select(cut).to_series())
    texts = pl.concat(found, rechunk=False) if len(found) > 2 else found[-1]
    try:
        return texts.cast(dtype)
    except pl.exceptions.PolarsError as reason:
        raise CorruptKglError(f"{file.path}: damaged (the texts of {name!r} are not UTF-8).") from reason


def _places_of(offsets: npt.NDArray[Any]) -> pl.DataFrame:
    return pl.DataFrame({"first": offsets[:-1], "length": np.diff(offsets)})


def _with_nulls(series: pl.Series, is_there: npt.NDArray[np.bool_] | None) -> pl.Series:
    """``series`` with nulls where ``is_there`` is False."""
    if is_there is None or not len(series):
        return series
    return series.zip_with(pl.Series(is_there), pl.Series([None], dtype=series.dtype))


def _offsets(file: KglFile, name: str, rows: int) -> npt.NDArray[np.int32]:
    """int32[rows+1]: from 0, never falling."""
    offsets = unpack_numbers(file, f"{name}.offsets", "<i4", rows + 1)
    if offsets[0] != 0 or bool((offsets[1:] < offsets[:-1]).any()):
        raise CorruptKglError(f"{file.path}: damaged (the offsets of {name!r} do not rise).")
    return offsets


def _check_range(file: KglFile, name: str, dtype: pl.DataType, values: npt.NDArray[Any]) -> None:
    if not len(values) or not isinstance(dtype, (pl.Date, pl.Datetime)):
        return
    least, most = _DATE_RANGE if isinstance(dtype, pl.Date) else _DATETIME_RANGE
    if int(values.min()) < least or int(values.max()) > most:
        raise CorruptKglError(f"{file.path}: damaged (a date of {name!r} is outside the years 1 to 9999).")


def _pack_texts(name: str, series: pl.Series) -> Iterator[tuple[str, Piece]]:
    """Offsets and bytes; texts lie side by side, whatever buffers the series shares with others."""
    lengths = series.str.len_bytes() if series.dtype == pl.String() else series.bin.size()
    offsets = np.zeros(len(series) + 1, dtype=np.int64)
    np.cumsum(lengths.fill_null(0).to_numpy(), out=offsets[1:])
    if int(offsets[-1]) > _MOST_ROWS:
        raise KglError(f"More than 2 GiB of text in one column ({name}): such a vault is served without a cache.")
    yield f"{name}.offsets", offsets.astype("<i4")
    yield name, _text_parts(series, offsets)


def _text_parts(series: pl.Series, offsets: npt.NDArray[np.int64]) -> Iterator[Part]:
    """The bytes of all texts, about _PART_BYTES at a time: a column of bodies is never held twice."""
    for first, stop in _cuts(offsets):
        if offsets[stop] > offsets[first]:
            part = series.slice(first, stop - first)
            yield part.str.join("").cast(pl.Binary).item() if part.dtype == pl.String() else b"".join(part.drop_nulls())


def _cuts(offsets: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """Runs of texts (first, stop) of about _PART_BYTES together."""
    cuts: list[tuple[int, int]] = []
    first = 0
    while first < len(offsets) - 1:
        stop = max(first + 1, int(np.searchsorted(offsets, offsets[first] + _PART_BYTES, side="right")) - 1)
        cuts.append((first, stop))
        first = stop
    return cuts


def _items_of(series: pl.Series, dtype: pl.List) -> pl.Series:
    """The items of all lists in order, without those a null list may hide."""
    items = series.filter(series.list.len() > 0).explode()
    return items.cast(_instance(dtype.inner))


def _offsets_from(lengths: npt.NDArray[Any], name: str) -> npt.NDArray[np.int32]:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    if int(offsets[-1]) > _MOST_ROWS:
        raise KglError(f"More than 2^31 items in one column ({name}): such a vault is served without a cache.")
    return offsets.astype("<i4")


def _runs_of(flags: pl.Series) -> npt.NDArray[np.uint32]:
    """How many are false, how many true, in turn. A row more or less moves no bits of those after it: the next version
    of a file differs little."""
    values = flags.to_numpy()
    if not len(values):
        return np.zeros(0, dtype="<u4")
    cuts = np.flatnonzero(values[1:] != values[:-1]) + 1
    lengths = np.diff(cuts, prepend=0, append=len(values))
    return (np.insert(lengths, 0, 0) if values[0] else lengths).astype("<u4")


def _instance(dtype: Any) -> pl.DataType:
    return dtype() if isinstance(dtype, type) else dtype
