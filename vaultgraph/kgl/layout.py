"""The .kgl container: what its bytes mean. Shared by kgl/writer and kgl/reader; knows nothing of graphs.

    0    8   magic: 0x93 "VGRAPH" LF (the high byte and the LF tell a file that went through a text conversion)
    8    4   format version
    12   4   CRC-32 of the table of contents
    16   8   offset of the table of contents
    24   8   length of the table of contents
    32   8   length of the whole file
    40   24  zeros
    64   …   sections, each at a multiple of 64, zeros between; then the table of contents, to the end of the file

All numbers are little-endian and unsigned. The table of contents is JSON with sorted keys: ``meta``, an object of the
caller, and ``sections``, a list of [name, offset, length, CRC-32] in the order of offsets; those of packed numbers
(kgl/coding) go on with [… coding, bytes a number, how many numbers]. docs/kgl-format.md has it all. The checksums find
accidents, not malice: CRC-32 finds every burst of up to 32 bits and runs at several GB/s, four times faster than
BLAKE2b. What a file *says* is checked by whoever reads it, whatever its checksums are.
"""

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from vaultgraph.errors import CorruptKglError, ForeignKglError, KglVersionError
from vaultgraph.frozen import frozen
from vaultgraph.kgl.coding import CODINGS, RAW, WIDTHS

MAGIC: Final = b"\x93VGRAPH\n"
FORMAT_VERSION: Final = 3
ALIGNMENT: Final = 64
HEADER_BYTES: Final = 64
MOST_CONTENTS_BYTES: Final = 1 << 26
MOST_EXPANSION: Final = 64
"""All sections unpacked are at most so many times the file, and SPARE_BYTES: a small file asks for little memory."""
SPARE_BYTES: Final = 1 << 22
_HEADER: Final = struct.Struct("<8sIIQQQ24s")


@frozen
class Section:
    """A named run of ``length`` bytes: ``offset`` from the start of the file, ``checksum`` their CRC-32.

    ``coding`` says how they hold ``count`` numbers of ``width`` bytes; RAW: they are the content as it is.
    """

    name: str
    offset: int
    length: int
    checksum: int
    coding: str = RAW
    width: int = 1
    count: int = 0

    @property
    def content_bytes(self) -> int:
        """The length of the content, unpacked."""
        return self.width * self.count if self.coding else self.length


@frozen
class Header:
    """Where the table of contents lies, and how long the file must be."""

    contents_offset: int
    contents_length: int
    contents_checksum: int
    file_length: int


def aligned(offset: int) -> int:
    """The next multiple of ALIGNMENT."""
    return -(-offset // ALIGNMENT) * ALIGNMENT


def pack_header(header: Header) -> bytes:
    """The first 64 bytes of a file."""
    return _HEADER.pack(
        MAGIC,
        FORMAT_VERSION,
        header.contents_checksum,
        header.contents_offset,
        header.contents_length,
        header.file_length,
        bytes(24),
    )


def parse_header(data: bytes, file_length: int, path: str) -> Header:
    """The header of the file ``path``, ``file_length`` bytes long, from its first 64 bytes.

    Raises:
        ForeignKglError: another magic.
        KglVersionError: another format version.
        CorruptKglError: truncated, or the header contradicts itself.
    """
    if not MAGIC.startswith(data[: len(MAGIC)]):
        raise ForeignKglError(f"{path}: not a file of vaultgraph (its first bytes are another program's).")
    if len(data) < HEADER_BYTES:
        raise CorruptKglError(f"{path}: truncated inside its header.")
    _, version, checksum, offset, length, stated, rest = _HEADER.unpack(data[:HEADER_BYTES])
    if version != FORMAT_VERSION:
        raise KglVersionError(
            f"{path}: format version {version}; this vaultgraph reads {FORMAT_VERSION}.", {"version": version}
        )
    if stated != file_length or any(rest) or offset % ALIGNMENT or offset < HEADER_BYTES:
        raise CorruptKglError(f"{path}: truncated or damaged (its header does not fit the file).")
    if offset + length != file_length or length > MOST_CONTENTS_BYTES:
        raise CorruptKglError(f"{path}: damaged (the table of contents does not end the file).")
    return Header(offset, length, checksum, file_length)


def pack_contents(sections: Sequence[Section], meta: Mapping[str, Any]) -> bytes:
    """The table of contents; the same bytes for equal values."""
    rows = [
        [section.name, section.offset, section.length, section.checksum]
        + ([section.coding, section.width, section.count] if section.coding else [])
        for section in sections
    ]
    value = {"meta": meta, "sections": rows}
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def parse_contents(data: memoryview, header: Header, path: str) -> tuple[dict[str, Section], dict[str, Any]]:
    """Sections by name, and meta; ``data`` is the table of contents.

    Raises:
        CorruptKglError: the checksum is wrong, it is not the JSON described above, or a section is out of its place.
    """
    if zlib.crc32(data) != header.contents_checksum:
        raise CorruptKglError(f"{path}: damaged (the checksum of its table of contents is wrong).")
    try:
        value: Any = json.loads(bytes(data))
        meta, rows = value["meta"], value["sections"]
        sections = [_section(*row) for row in rows]
    except (ValueError, KeyError, TypeError, RecursionError) as reason:
        raise CorruptKglError(f"{path}: damaged (its table of contents cannot be read).") from reason
    if not isinstance(meta, dict) or not all(_is_well_formed(section) for section in sections):
        raise CorruptKglError(f"{path}: damaged (its table of contents is malformed).")
    end = HEADER_BYTES
    for section in sections:
        if section.offset != aligned(end) or section.offset + section.length > header.contents_offset:
            raise CorruptKglError(f"{path}: damaged (section {section.name!r} lies outside its place).")
        end = section.offset + section.length
    if sum(section.content_bytes for section in sections) > MOST_EXPANSION * header.file_length + SPARE_BYTES:
        raise CorruptKglError(f"{path}: damaged (its sections would take more memory than such a file can need).")
    by_name = {section.name: section for section in sections}
    if len(by_name) != len(sections):
        raise CorruptKglError(f"{path}: damaged (two sections have one name).")
    return by_name, meta  # pyright: ignore[reportUnknownVariableType] - JSON: the caller checks what it takes


def _section(
    name: str, offset: int, length: int, checksum: int, coding: str = RAW, width: int = 1, count: int = 0
) -> Section:
    return Section(name, offset, length, checksum, coding, width, count)


def _is_well_formed(section: Section) -> bool:
    numbers = (section.offset, section.length, section.checksum, section.width, section.count)
    is_coded = type(section.coding) is str and section.coding in CODINGS and section.width in WIDTHS
    return type(section.name) is str and is_coded and all(type(number) is int and number >= 0 for number in numbers)
