"""Whole numbers in few bytes: how columns of codes, lines and offsets shrink in a .kgl container, and come back.

Used by kgl/writer and kgl/reader, section by section. 1,024 numbers are a block: its least one, and how far each lies
above it in as many bytes as the farthest needs. "steps" holds the differences of neighbours instead of the numbers, for
what mostly rises. Nothing depends on a library's version; equal numbers give equal bytes.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

RAW: Final = ""
BLOCKS: Final = "blocks"
STEPS: Final = "steps"
CODINGS: Final = (RAW, BLOCKS, STEPS)
WIDTHS: Final = (1, 2, 4, 8)
"""Bytes a number may take once it is unpacked."""
_BLOCK: Final = 1024
_LEAST_BYTES: Final = 512  # what is shorter is not worth the trouble
_LIMITS: Final = np.array([1, 1 << 8, 1 << 16, 1 << 32], dtype=np.uint64)
_BYTES: Final = np.array([0, 1, 2, 4, 8], dtype=np.uint8)
_IS_BYTES: Final = np.isin(np.arange(256), _BYTES)

Numbers = npt.NDArray[np.int64]


def pack_numbers(values: npt.NDArray[Any]) -> tuple[str, bytes] | None:
    """The coding and the bytes of ``values`` (one dimension, 1 to 8 bytes each); None where they are best left alone.

    Numbers of 8 bytes that are no whole numbers are taken bit by bit.
    """
    if values.nbytes < _LEAST_BYTES or values.itemsize not in WIDTHS:
        return None
    plain = values.view("<i8") if values.dtype.kind == "f" else values.astype(np.int64, copy=False)
    found = (BLOCKS, _pack_blocks(plain)), (STEPS, _pack_blocks(np.diff(plain, prepend=np.int64(0))))
    coding, data = min(found, key=lambda one: len(one[1]))
    return (coding, data) if len(data) * 8 <= values.nbytes * 7 else None


def unpack_numbers_of(data: memoryview, coding: str, width: int, count: int) -> npt.NDArray[Any] | None:
    """What ``pack_numbers`` was given, as unsigned numbers of ``width`` bytes; None where ``data`` cannot be that."""
    numbers = _unpack_blocks(data, count)
    if numbers is None or width not in WIDTHS:
        return None
    if coding == STEPS:
        np.cumsum(numbers, out=numbers)
    return numbers.astype(f"<u{width}", copy=False)


def _pack_blocks(values: Numbers) -> bytes:
    count = len(values)
    full = np.pad(values, (0, -count % _BLOCK), mode="edge").reshape(-1, _BLOCK)
    least = full.min(axis=1)
    above = (full - least[:, None]).view(np.uint64)  # differences wrap around, and back when they are added again
    widths = _BYTES[np.searchsorted(_LIMITS, above.max(axis=1), side="right")]
    flat = above.reshape(-1)
    parts = [widths.tobytes(), least.astype("<i8").tobytes()]
    parts += [flat[first:stop].astype(f"<u{width}").tobytes() for first, stop, width in _runs(widths, count)]
    return b"".join(parts)


def _unpack_blocks(data: memoryview, count: int) -> Numbers | None:
    blocks = -(-count // _BLOCK)
    if len(data) < blocks * 9:
        return None
    widths = np.frombuffer(data, dtype=np.uint8, count=blocks)
    least = np.frombuffer(data, dtype="<i8", count=blocks, offset=blocks)
    if not bool(_IS_BYTES[widths].all()):
        return None
    runs = list(_runs(widths, count))
    if blocks * 9 + sum((stop - first) * width for first, stop, width in runs) != len(data):
        return None
    numbers = np.repeat(least.astype(np.int64), _BLOCK)[:count]
    at = blocks * 9
    for first, stop, width in runs:
        above = np.frombuffer(data, dtype=f"<u{width}", count=stop - first, offset=at)
        numbers[first:stop] += above.astype(np.int64)
        at += (stop - first) * width
    return numbers


def _runs(widths: npt.NDArray[np.uint8], count: int) -> Iterator[tuple[int, int, int]]:
    """First and last number (half open) and width of each run of blocks of one width, those of width 0 left out."""
    cuts = np.flatnonzero(np.diff(widths)) + 1
    for first, stop in zip([0, *cuts.tolist()], [*cuts.tolist(), len(widths)], strict=True):
        if first < stop and widths[first]:
            yield first * _BLOCK, min(stop * _BLOCK, count), int(widths[first])
