"""Writing a .kgl container in one crash-safe step.

Gets named buffers from kgl/arrays or anybody else; lays them out as kgl/layout says. Equal input gives equal bytes.
"""

import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from vaultgraph.durable import replace_file
from vaultgraph.kgl.coding import RAW, pack_numbers
from vaultgraph.kgl.layout import (
    HEADER_BYTES,
    MOST_EXPANSION,
    SPARE_BYTES,
    Header,
    Section,
    aligned,
    pack_contents,
    pack_header,
)

Part = bytes | bytearray | memoryview | npt.NDArray[np.generic]
Piece = Part | Iterator[Part]
"""The bytes of a section, whole or part after part. Arrays of numbers are packed where that makes them shorter."""


def write_sections(path: str | os.PathLike[str], sections: Iterable[tuple[str, Piece]], meta: Mapping[str, Any]) -> int:
    """Replace ``path`` by a container of ``sections`` (name and bytes, names differ) and ``meta`` (JSON-ready).

    Returns the length of the file in bytes. The folder must exist; whether the file may be replaced is the caller's
    decision (see ``reader.is_replaceable``).

    Raises:
        OSError: it cannot be written; what was there is untouched.
        ValueError: two sections have one name, or ``meta`` is not JSON-ready.
    """
    placed: list[Section] = []
    header = b""

    def stream() -> Iterator[bytes | memoryview]:
        # One section at a time: a caller that makes them as they are asked for never holds two.
        nonlocal header
        yield bytes(HEADER_BYTES)
        end, content_bytes = HEADER_BYTES, 0
        for name, given in sections:
            offset = aligned(end)
            yield bytes(offset - end)
            piece, coding, width, count = _packed(given, MOST_EXPANSION * offset + SPARE_BYTES - content_bytes)
            end, checksum = offset, 0
            for part in piece if isinstance(piece, Iterator) else (piece,):
                view = _bytes_of(part)
                checksum = zlib.crc32(view, checksum)
                end += len(view)
                yield view
            placed.append(Section(name, offset, end - offset, checksum, coding, width, count))
            content_bytes += placed[-1].content_bytes
        if len({section.name for section in placed}) != len(placed):
            raise ValueError("two sections have one name")
        contents = pack_contents(placed, meta)
        contents_offset = aligned(end)
        yield bytes(contents_offset - end)
        yield contents
        length = contents_offset + len(contents)
        header = pack_header(Header(contents_offset, len(contents), zlib.crc32(contents), length))

    return replace_file(path, stream(), head=lambda: header)


def _packed(piece: Piece, most_bytes: int) -> tuple[Piece, str, int, int]:
    """What is written for ``piece``: bytes, coding, bytes a number, how many; packed only up to ``most_bytes``."""
    if isinstance(piece, np.ndarray) and piece.nbytes <= most_bytes:
        packed = pack_numbers(piece)
        if packed is not None:
            return packed[1], packed[0], piece.itemsize, len(piece)
    return piece, RAW, 1, 0


def _bytes_of(piece: Part) -> memoryview:
    if isinstance(piece, np.ndarray):
        return np.ascontiguousarray(piece).data.cast("B")
    return memoryview(piece).cast("B")
