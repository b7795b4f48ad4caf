"""Polars series as sections of a .kgl container and back, without copying on the way back.

A series is written as the buffers Arrow would hold, in one canonical form: no offsets, no null numbers, no validity
bitmap where nothing is null. The bytes therefore depend on the values alone, not on how a series came about or which
library version wrote it. Everything read is checked (lengths, offsets, UTF-8, date ranges) before Arrow sees it.

Sections of a series NAME: ``NAME`` values (numbers, packed bits, or the bytes of texts); ``NAME.valid`` packed bits;
``NAME.offsets`` int32[n+1] of texts and lists; ``NAME.places`` uint32[n] of texts among shared ones (kgl/texts), in
place of the former; ``NAME.item`` the items of a list; ``NAME.<field>`` the fields of a struct.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow

from vaultgraph.errors import CorruptKglError, KglError
from vaultgraph.kgl.reader import KglFile
from vaultgraph.kgl.texts import SharedTexts
from vaultgraph.kgl.writer import Part, Piece

pa: Final[Any] = pyarrow  # it has no type stubs: its arrays and types are `Any` here
_FIXED: Final[dict[pl.DataType, tuple[str, Any]]] = {
    pl.UInt8(): ("<u1", pa.uint8()),
    pl.UInt32(): ("<u4", pa.uint32()),
    pl.Int32(): ("<i4", pa.int32()),
    pl.Int64(): ("<i8", pa.int64()),
    pl.Float64(): ("<f8", pa.float64()),
    pl.Date(): ("<i4", pa.date32()),
    pl.Datetime("us"): ("<i8", pa.timestamp("us")),
    pl.Datetime("us", "UTC"): ("<i8", pa.timestamp("us", "UTC")),
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
        yield f"{name}.valid", _packed_bits(series.is_not_null())
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
        yield name, _packed_bits(series.fill_null(False))
    elif dtype in _FIXED:
        yield name, series.to_physical().drop_nulls().to_numpy().astype(_FIXED[dtype][0], copy=False)
    else:
        raise TypeError(f"no form on disk for a series of {dtype}")


def unpack_series(file: KglFile, name: str, dtype: pl.DataType, rows: int, texts: pl.Series | None = None) -> pl.Series:
    """The series ``name`` of ``rows`` rows, sharing the memory of ``file`` and of ``texts`` where the dtype allows.

    Raises:
        CorruptKglError: a section is missing, damaged, of the wrong length, or holds what the dtype does not allow.
    """
    if type(rows) is not int or not 0 <= rows <= _MOST_ROWS:
        raise CorruptKglError(f"{file.path}: damaged (series {name!r} has {rows!r} rows).")
    if dtype == pl.String() and f"{name}.places" in file:
        return _placed(file, name, rows, texts)
    array = _unpack(file, name, dtype, rows, texts)
    if not rows:
        return pl.Series(name, [], dtype=dtype)
    series = pl.from_arrow(array)
    if not isinstance(series, pl.Series) or series.dtype != dtype:
        raise CorruptKglError(f"{file.path}: damaged (series {name!r} is not of {dtype}).")
    return series


def is_valid(file: KglFile, name: str, rows: int) -> npt.NDArray[np.bool_]:
    """``bool[rows]``: which rows of the series ``name`` are not null.

    Raises:
        CorruptKglError: the section that says so is damaged or of another length.
    """
    if f"{name}.valid" not in file:
        return np.ones(rows, dtype=np.bool_)
    bits = unpack_numbers(file, f"{name}.valid", "<u1", (rows + 7) // 8)
    return np.unpackbits(bits, bitorder="little", count=rows).astype(np.bool_)


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


def _placed(file: KglFile, name: str, rows: int, texts: pl.Series | None) -> pl.Series:
    """A series of shared texts by their places."""
    places = pl.from_arrow(_unpack(file, f"{name}.places", pl.UInt32(), rows, None, f"{name}.valid"))
    assert isinstance(places, pl.Series)
    most: Any = places.max()
    if texts is None or (most is not None and most >= len(texts)):
        raise CorruptKglError(f"{file.path}: damaged ({name!r} names texts that are not there).")
    return texts.gather(places).alias("") if rows else pl.Series(name, [], dtype=pl.String)


def _unpack(
    file: KglFile, name: str, dtype: pl.DataType, rows: int, texts: pl.Series | None, validity: str = ""
) -> Any:
    validity = validity or f"{name}.valid"
    valid = _bits(file, validity, rows) if validity in file else None
    if isinstance(dtype, pl.Struct):
        children = [
            _unpack(file, f"{name}.{field.name}", _instance(field.dtype), rows, texts) for field in dtype.fields
        ]
        fields = [pa.field(field.name, child.type) for field, child in zip(dtype.fields, children, strict=True)]
        return pa.Array.from_buffers(pa.struct(fields), rows, [valid], children=children)
    if isinstance(dtype, pl.List):
        offsets = _offsets(file, name, rows)
        items = _unpack(file, f"{name}.item", _instance(dtype.inner), int(offsets[-1]), texts)
        return pa.Array.from_buffers(pa.list_(items.type), rows, [valid, pa.py_buffer(offsets)], children=[items])
    if dtype == pl.String() and f"{name}.places" in file:
        return _arrow_of(_placed(file, name, rows, texts))
    if dtype in (pl.String(), pl.Binary()):
        offsets = _offsets(file, name, rows)
        data = file.section(name)
        if int(offsets[-1]) != len(data):
            raise CorruptKglError(f"{file.path}: damaged (the texts of {name!r} have the wrong length).")
        if dtype == pl.String():
            _check_text(file, name, offsets, data)
        kind: Any = pa.string() if dtype == pl.String() else pa.binary()
        return pa.Array.from_buffers(kind, rows, [valid, pa.py_buffer(offsets), pa.py_buffer(data)])
    if dtype == pl.Boolean():
        return pa.Array.from_buffers(pa.bool_(), rows, [valid, _bits(file, name, rows)])
    code, arrow_type = _FIXED[dtype]
    if valid is None:
        values = unpack_numbers(file, name, code, rows)
    else:
        is_there = np.unpackbits(np.frombuffer(valid, dtype=np.uint8), bitorder="little", count=rows).view(np.bool_)
        values = np.zeros(rows, dtype=code)
        values[is_there] = unpack_numbers(file, name, code, int(is_there.sum()))
    _check_range(file, name, dtype, values)
    return pa.Array.from_buffers(arrow_type, rows, [valid, pa.py_buffer(values)])


def _bits(file: KglFile, name: str, rows: int) -> Any:
    return pa.py_buffer(unpack_numbers(file, name, "<u1", (rows + 7) // 8))


def _offsets(file: KglFile, name: str, rows: int) -> npt.NDArray[np.int32]:
    """int32[rows+1]: from 0, never falling."""
    offsets = unpack_numbers(file, f"{name}.offsets", "<i4", rows + 1)
    if offsets[0] != 0 or bool((offsets[1:] < offsets[:-1]).any()):
        raise CorruptKglError(f"{file.path}: damaged (the offsets of {name!r} do not rise).")
    return offsets


def _check_text(file: KglFile, name: str, offsets: npt.NDArray[np.int32], data: memoryview) -> None:
    """All of ``data`` is UTF-8 and no text starts inside a character: twice as fast as checking text by text."""
    whole = np.array([0, len(data)], dtype=np.int64)
    text: Any = pa.Array.from_buffers(pa.large_string(), 1, [None, pa.py_buffer(whole), pa.py_buffer(data)])
    try:
        text.validate(full=True)
    except pa.ArrowInvalid as reason:
        raise CorruptKglError(f"{file.path}: damaged (the texts of {name!r} are not UTF-8).") from reason
    starts = np.frombuffer(data, dtype=np.uint8)[offsets[offsets < len(data)]]
    if bool(((starts & 0xC0) == 0x80).any()):
        raise CorruptKglError(f"{file.path}: damaged (a text of {name!r} starts inside a character).")


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
    nothing = "" if series.dtype == pl.String() else b""
    first = 0
    while first < len(series):
        stop = max(first + 1, int(np.searchsorted(offsets, offsets[first] + _PART_BYTES, side="right")) - 1)
        part = series.slice(first, stop - first)
        if offsets[stop] > offsets[first]:
            filled = part.fill_null(nothing) if part.null_count() else part
            # The oldest form of text in Arrow is the one on disk; a cast by pyarrow would load all its kernels.
            array = _arrow_of(filled, pl.CompatLevel.oldest())
            _, starts, data = array.buffers()
            ends = np.frombuffer(starts, dtype=np.int64, count=len(part) + 1)
            yield memoryview(data)[int(ends[0]) : int(ends[-1])]
        first = stop


def _items_of(series: pl.Series, dtype: pl.List) -> pl.Series:
    """The items of all lists in order, without those a null list may hide."""
    if not len(series):
        return pl.Series(series.name, [], dtype=dtype.inner)
    items = pl.from_arrow(_arrow_of(series).flatten())
    if not isinstance(items, pl.Series):
        raise TypeError(f"no form on disk for a series of {dtype}")
    return items.cast(_instance(dtype.inner))


def _arrow_of(series: pl.Series, level: pl.CompatLevel | None = None) -> Any:
    level = level or pl.CompatLevel.newest()
    return series.to_arrow(compat_level=level)  # pyright: ignore[reportUnknownVariableType]


def _offsets_from(lengths: npt.NDArray[Any], name: str) -> npt.NDArray[np.int32]:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    if int(offsets[-1]) > _MOST_ROWS:
        raise KglError(f"More than 2^31 items in one column ({name}): such a vault is served without a cache.")
    return offsets.astype("<i4")


def _packed_bits(flags: pl.Series) -> npt.NDArray[np.uint8]:
    return np.packbits(flags.to_numpy(), bitorder="little")


def _instance(dtype: Any) -> pl.DataType:
    return dtype() if isinstance(dtype, type) else dtype
