"""Replacing a file: all of it or nothing, and nothing else."""

import os
from pathlib import Path

import pytest

from vaultgraph.durable import TEMPORARY_PREFIX, remove_leftovers, replace_file


def names_in(folder: Path) -> list[str]:
    return sorted(place.name for place in folder.iterdir())


def test_pieces_become_the_content(tmp_path):
    place = tmp_path / "file.bin"
    assert replace_file(place, [b"ab", bytearray(b"c"), memoryview(b"defg")[1:3], b""]) == 5
    assert place.read_bytes() == b"abcef"
    assert replace_file(str(place), [b"new"]) == 3
    assert place.read_bytes() == b"new"
    assert names_in(tmp_path) == ["file.bin"]


def test_a_failure_midway_leaves_the_old_file_and_no_other(tmp_path):
    place = tmp_path / "file.bin"
    place.write_bytes(b"old")

    def pieces():
        yield b"half"
        assert [name for name in names_in(tmp_path) if name.startswith(TEMPORARY_PREFIX)]
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        replace_file(place, pieces())
    assert place.read_bytes() == b"old"
    assert names_in(tmp_path) == ["file.bin"]


def test_a_link_is_replaced_and_never_followed(tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("theirs")
    place = tmp_path / "file.bin"
    place.symlink_to(other)
    replace_file(place, [b"mine"])
    assert other.read_text() == "theirs"
    assert not place.is_symlink()
    assert place.read_bytes() == b"mine"


def test_a_folder_in_the_way_or_a_missing_folder_is_an_os_error(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "x").write_text("x")
    (tmp_path / "file").write_text("x")
    with pytest.raises(IsADirectoryError):
        replace_file(tmp_path / "folder", [b"x"])
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "nothing" / "x", [b"x"])
    with pytest.raises(NotADirectoryError):
        replace_file(tmp_path / "file" / "x", [b"x"])
    assert names_in(tmp_path) == ["file", "folder"]


def test_a_name_of_255_bytes_works(tmp_path):
    replace_file(tmp_path / ("n" * 255), [b"x"])
    assert (tmp_path / ("n" * 255)).read_bytes() == b"x"


def test_what_a_killed_process_left_is_removed_once_it_is_old(tmp_path):
    names = (f".vaultgraph-{mark}.tmp" for mark in ("a" * 16, "b" * 16, "x", "c" * 16, "d" * 16))
    old, young, other, link, folder = (tmp_path / name for name in names)
    for file in (old, young, other):
        file.write_bytes(b"half")
    link.symlink_to(other)
    folder.mkdir()
    for file in (old, other, folder):
        os.utime(file, (0, 0))
    os.utime(link, (0, 0), follow_symlinks=False)
    remove_leftovers(tmp_path)
    assert names_in(tmp_path) == sorted(file.name for file in (young, other, link, folder))
    remove_leftovers(tmp_path / "nowhere")
