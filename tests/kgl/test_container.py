"""The container: exact bytes back, and every other file refused for the right reason."""

import os
import random
import struct
import zlib

import numpy as np
import pytest

from vaultgraph.errors import CorruptKglError, ForeignKglError, KglError, KglVersionError
from vaultgraph.kgl.layout import ALIGNMENT, HEADER_BYTES, MAGIC, Header, Section, pack_contents, pack_header
from vaultgraph.kgl.reader import is_replaceable, open_kgl
from vaultgraph.kgl.writer import write_sections

SECTIONS = {
    "numbers": np.arange(10, dtype="<u4"),
    "empty": b"",
    "none": np.zeros(0, dtype="<i8"),
    "text": "Ähre".encode() * 40,
    "view": memoryview(b"0123456789")[2:5],
}
META = {"b": [1, 2.5, None, True], "a": {"ö": "ü"}}


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "graph.kgl"
    write_sections(path, SECTIONS.items(), META)
    return path


def rebuilt(body: bytes, contents: bytes, **header) -> bytes:
    """A file whose table of contents has the right checksum, whatever it says."""
    offset = HEADER_BYTES + len(body)
    values = {"contents_offset": offset, "contents_length": len(contents), "contents_checksum": zlib.crc32(contents),
              "file_length": offset + len(contents)} | header  # fmt: skip
    return pack_header(Header(**values)) + body + contents


def test_sections_come_back_aligned_read_only_and_in_order(place):
    file = open_kgl(place)
    assert file.meta == META
    assert file.names() == list(SECTIONS)
    assert "text" in file
    assert "other" not in file
    for name, content in SECTIONS.items():
        view = file.section(name)
        assert bytes(view) == bytes(content)
        assert view.readonly
        if len(view):
            assert np.frombuffer(view, dtype=np.uint8).ctypes.data % ALIGNMENT == 0


def test_equal_input_gives_equal_bytes(place, tmp_path):
    again = tmp_path / "again.kgl"
    size = write_sections(again, list(SECTIONS.items()), dict(reversed(META.items())))
    assert again.read_bytes() == place.read_bytes()
    assert size == len(again.read_bytes())


def test_views_outlive_the_file(place):
    view = open_kgl(place).section("text")
    place.unlink()
    assert bytes(view) == SECTIONS["text"]


def test_a_file_cut_or_changed_in_place_is_damaged_and_what_was_read_stays(place):
    file, data = open_kgl(place), place.read_bytes()
    view = file.section("text")
    place.write_bytes(data.replace(b"234", b"2X4"))
    with pytest.raises(CorruptKglError, match="checksum of section 'view'"):
        file.section("view")
    place.write_bytes(b"")
    with pytest.raises(CorruptKglError, match="truncated"):
        file.section("view")
    assert bytes(view) == SECTIONS["text"]


def test_a_file_that_was_replaced_or_removed_can_still_be_read(place):
    file = open_kgl(place)
    write_sections(place, [("text", b"new")], {})
    assert bytes(file.section("text")) == SECTIONS["text"]
    place.unlink()
    assert bytes(file.section("view")) == b"234"


def test_an_empty_container_is_one(tmp_path):
    write_sections(tmp_path / "x", [], {})
    file = open_kgl(tmp_path / "x")
    assert (file.names(), file.meta) == ([], {})


def test_two_sections_of_one_name_are_refused_before_writing(tmp_path):
    with pytest.raises(ValueError, match="one name"):
        write_sections(tmp_path / "x", [("a", b""), ("a", b"")], {})
    assert not list(tmp_path.iterdir())


def test_a_file_cut_anywhere_is_damaged(place):
    data = place.read_bytes()
    boundaries = {section.offset for section in open_kgl(place)._sections.values()}
    for length in sorted({0, 1, 7, 8, 12, 63, 64, len(data) - 1} | boundaries | set(range(0, len(data), 37))):
        place.write_bytes(data[:length])
        with pytest.raises(CorruptKglError):
            open_kgl(place)
    place.write_bytes(data + b"\0")
    with pytest.raises(CorruptKglError):
        open_kgl(place)


def test_every_single_bit_is_covered_by_a_check_or_means_nothing(place):
    data = place.read_bytes()
    random.seed(7)
    for position in random.sample(range(len(data) * 8), 500) + list(range(HEADER_BYTES * 8)):
        flipped = bytearray(data)
        flipped[position // 8] ^= 1 << position % 8
        place.write_bytes(flipped)
        try:
            file = open_kgl(place)
            content = {name: bytes(file.section(name)) for name in file.names()}
        except KglError:
            continue
        assert content == {name: bytes(value) for name, value in SECTIONS.items()}
        assert file.meta == META


@pytest.mark.parametrize(
    "data", [b"RGF\x0b graph", b"PK\x03\x04", b"VGRAPH\n\0", b"\x89PNG\r\n\x1a\n" + bytes(100), b"x"]
)
def test_a_file_of_another_program_is_foreign(tmp_path, data):
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(ForeignKglError, match="not a file of vaultgraph"):
        open_kgl(tmp_path / "x")
    assert not is_replaceable(tmp_path / "x")


def test_another_version_is_told_apart_from_damage(place):
    data = bytearray(place.read_bytes())
    struct.pack_into("<I", data, 8, 1)
    place.write_bytes(data)
    with pytest.raises(KglVersionError) as error:
        open_kgl(place)
    assert error.value.data == {"version": 1}
    assert is_replaceable(place)


def test_folders_links_pipes_and_devices_are_left_alone(tmp_path, place):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(place)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "folder", tmp_path / "link", tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(ForeignKglError, match="left alone"):
            open_kgl(path)
        assert not is_replaceable(path)


def test_a_missing_or_too_big_file_is_a_plain_error(tmp_path, place):
    for path in (tmp_path / "nothing", place / "x", "nul\0"):
        with pytest.raises(KglError) as error:
            open_kgl(path)
        assert type(error.value) is KglError
    with pytest.raises(KglError, match="cap"):
        open_kgl(place, most_bytes=10)


def test_what_may_be_replaced_is_what_vaultgraph_wrote(tmp_path, place):
    assert is_replaceable(place)
    assert is_replaceable(tmp_path / "nothing")
    (tmp_path / "cut").write_bytes(MAGIC[:5])
    assert is_replaceable(tmp_path / "cut")


def test_a_hole_as_big_as_a_disk_is_refused_before_it_is_read(tmp_path):
    length = 1 << 42
    header = Header(length - 64, 64, 0, length)
    with (tmp_path / "x").open("wb") as file:
        file.write(pack_header(header))
        file.truncate(length)
    with pytest.raises(KglError, match="cap"):
        open_kgl(tmp_path / "x")


HOSTILE = {
    "overlap": [Section("a", 64, 64, 0), Section("b", 64, 64, 0)],
    "unaligned": [Section("a", 65, 1, 0)],
    "past the end": [Section("a", 64, 1 << 40, 0)],
    "a gap": [Section("a", 64, 1, 0), Section("b", 192, 1, 0)],
    "inside the header": [Section("a", 0, 64, 0)],
    "twice": [Section("a", 64, 0, 0), Section("a", 64, 0, 0)],
    "negative": [Section("a", 64, -1, 0)],
    "a float": [Section("a", 64.0, 0, 0)],  # type: ignore[arg-type]
    "a truth": [Section("a", 64, True, 0)],
    "no name": [Section(1, 64, 0, 0)],  # type: ignore[arg-type]
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_table_of_contents_that_lies_is_damaged(tmp_path, kind):
    (tmp_path / "x").write_bytes(rebuilt(bytes(256), pack_contents(HOSTILE[kind], {})))
    with pytest.raises(CorruptKglError):
        open_kgl(tmp_path / "x")


@pytest.mark.parametrize(
    "contents",
    [
        b"", b"{", b"[]", b"{}", b"null", b"\xff", b"[" * 100_000, b'{"meta":[],"sections":[]}',
        b'{"meta":{},"sections":[[1]]}', b'{"meta":{},"sections":7}', b'{"meta":{},"sections":{"a":1}}',
        b'{"meta":{},"sections":[["a",64,1e999,0]]}',
    ],
)  # fmt: skip
def test_contents_of_another_shape_are_damaged(tmp_path, contents):
    (tmp_path / "x").write_bytes(rebuilt(b"", contents))
    with pytest.raises(CorruptKglError):
        open_kgl(tmp_path / "x")


def test_a_damaged_section_is_found_when_it_is_first_used(place):
    data = bytearray(place.read_bytes())
    data[data.index(b"\xc3")] ^= 1
    place.write_bytes(data)
    file = open_kgl(place)
    assert bytes(file.section("view")) == b"234"
    for _ in range(2):
        with pytest.raises(CorruptKglError, match="'text'"):
            file.section("text")
    with pytest.raises(CorruptKglError, match="missing"):
        file.section("nothing")


def test_writing_where_nothing_can_be_written_is_an_os_error(tmp_path, place):
    for path in (tmp_path / "nothing" / "x", place / "x"):
        with pytest.raises(OSError, match="directory"):
            write_sections(path, [], {})
