"""What lies where the cache should: another program's file, what is no file, another version's, a disk that is full."""

import errno
import os
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import vaultgraph
from vaultgraph.kgl.layout import FORMAT_VERSION, MAGIC
from vaultgraph.vault import cache as caches

TITLES = "MATCH (n:Note) RETURN n.title ORDER BY n.title"
KGLITE = bytes.fromhex("524746080203000000 5e030000") + b'{"a": []}' + bytes(800)
"""How a graph of another program that uses the same ending starts."""


def another_program(place: Path) -> None:
    place.write_bytes(KGLITE)


def link_to_a_cache(place: Path) -> None:
    """A cache of ours that is somewhere else: even that is not read through a symlink."""
    other = place.parents[2] / "other"
    (other / "notes").mkdir(parents=True)
    (other / "notes" / "X.md").write_text("# another vault's")
    vaultgraph.open(other / "notes", cache=other / "x.kgl").close()
    place.symlink_to(other / "x.kgl")


def link_to_nothing(place: Path) -> None:
    place.symlink_to(place.parents[2] / "made")


def pipe(place: Path) -> None:
    os.mkfifo(place)


def folder_with_a_file(place: Path) -> None:
    place.mkdir()
    (place / "keep").write_text("x")


def listening_socket(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(place.name)  # a path as long as a test's has no room in the address


def seen(place: Path) -> object:
    """What is there, without following or opening anything but a regular file."""
    status = place.lstat()
    if stat.S_ISLNK(status.st_mode):
        target = place.readlink()
        return target, target.read_bytes() if target.exists() else None
    if stat.S_ISDIR(status.st_mode):
        return sorted(file.name for file in place.iterdir())
    return place.read_bytes() if stat.S_ISREG(status.st_mode) else stat.S_IFMT(status.st_mode)


@pytest.mark.parametrize(
    ("put", "name"),
    [
        (another_program, "another program's"),
        (link_to_a_cache, "no regular file"),
        (link_to_nothing, "no regular file"),
        (pipe, "no regular file"),
        (folder_with_a_file, "no regular file"),
        (listening_socket, "no regular file"),
    ],
)
def test_what_is_no_cache_is_named_left_alone_and_said_once(
    write, monkeypatch: pytest.MonkeyPatch, put: Callable[[Path], None], name: str
) -> None:
    folder = write({"A.md": "# a", ".kglite/vault.yaml": "kglite_vault: 1\n"})
    place = folder / ".kglite/graph.kgl"
    monkeypatch.chdir(place.parent)
    put(place)
    before = seen(place)
    with vaultgraph.open(folder) as vault:
        assert vault.query(TITLES).rows == [("a",)]
        remark = vault.report.cache
        assert remark is not None
        assert name in remark
        assert remark.startswith(f"not used: {place}")
        assert vault.is_cache_refused
        write({"A.md": "# aa"})
        vault.refresh()
        assert vault.query(TITLES).rows == [("aa",)]
        vault.rebuild()
        assert vault.save() == remark
    assert seen(place) == before
    assert sorted(file.name for file in place.parent.iterdir()) == ["graph.kgl", "vault.yaml"]


def test_a_file_that_another_program_puts_there_later_is_left_alone_too(write) -> None:
    folder = write({"A.md": "# a"})
    place = folder / ".kglite/graph.kgl"
    with vaultgraph.open(folder) as vault:
        vault.save()
        place.unlink()
        place.write_bytes(KGLITE)
        write({"A.md": "# aa"})
        vault.refresh()
        assert "holds something that vaultgraph did not write; it is left alone" in (vault.save() or "")
        assert vault.query(TITLES).rows == [("aa",)]
    assert place.read_bytes() == KGLITE


def test_a_cache_of_another_version_of_vaultgraph_is_built_anew_and_said(
    write, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write({"A.md": "# a"})
    place = folder / ".kglite/graph.kgl"
    with monkeypatch.context() as patch:
        patch.setattr(caches, "__version__", "0.0.1")
        vaultgraph.open(folder).close()
    old = place.read_bytes()
    with vaultgraph.open(folder) as vault:
        assert (vault.report.origin, vault.report.cache) == ("built", "rebuilt: written by vaultgraph 0.0.1")
        assert vault.query(TITLES).rows == [("a",)]
    assert place.read_bytes() != old
    with vaultgraph.open(folder) as vault:
        assert (vault.report.origin, vault.report.cache) == ("cache", None)


def test_a_cache_of_another_format_is_built_anew_and_said(write) -> None:
    folder = write({"A.md": "# a"})
    place = folder / ".kglite/graph.kgl"
    vaultgraph.open(folder).close()
    good = place.read_bytes()
    at = len(MAGIC)
    for version in (FORMAT_VERSION - 1, FORMAT_VERSION + 1, 2**32 - 1):
        place.write_bytes(good[:at] + version.to_bytes(4, "little") + good[at + 4 :])
        with vaultgraph.open(folder) as vault:
            assert vault.report.origin == "built"
            assert f"version {version}" in (vault.report.cache or "")
        assert place.read_bytes() == good


@contextmanager
def full_disk() -> Iterator[None]:
    """No file may grow beyond 2,000 bytes: the system refuses in the middle of a write, as it does on a full disk."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of this kind there")
def test_a_disk_that_is_full_costs_no_answer_and_harms_no_cache(write) -> None:
    folder = write({"A.md": "# a " + "words " * 2000})
    place = folder / ".kglite/graph.kgl"
    vaultgraph.open(folder).close()
    old = place.read_bytes()
    with vaultgraph.open(folder) as vault:
        write({"A.md": "# b", "B.md": "# c " + "words " * 2000})
        vault.refresh()
        with full_disk():
            remark = vault.save()
        assert remark is not None
        assert os.strerror(errno.EFBIG) in remark
        assert [title[:1] for (title,) in vault.query(TITLES).rows] == ["b", "c"]
        assert place.read_bytes() == old
        assert [file.name for file in place.parent.iterdir()] == ["graph.kgl"]
    with vaultgraph.open(folder) as vault:
        assert [title[:1] for (title,) in vault.query(TITLES).rows] == ["b", "c"]
