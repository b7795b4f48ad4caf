"""What is known of a vault on this machine: notes are not read again, and nothing is ever believed too long."""

import os
from pathlib import Path

import polars as pl
import pytest

import vaultgraph
from vaultgraph.files import stamps as stat_pass
from vaultgraph.vault import refresh as passes
from vaultgraph.vault.stamp_file import KNOWN, load_stamps, save_stamps, stamp_path


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the notes that are read from now on."""
    seen: list[str] = []

    def counting(root, paths, sizes):
        seen.extend(paths)
        return stat_pass.read_files(root, paths, sizes)

    monkeypatch.setattr(passes, "read_files", counting)
    return seen


def age(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a later stat pass find the files old enough to be trusted, whatever the clock says."""
    monkeypatch.setattr(passes, "RACY_NS", -(10**18))


def test_a_second_visit_reads_no_note(write, reads, monkeypatch):
    folder = write({"A.md": "# a", "B.md": "# b"})
    age(folder, monkeypatch)
    vaultgraph.open(folder).close()
    assert reads == ["A.md", "B.md"]
    with vaultgraph.open(folder) as vault:
        assert vault.query("MATCH (n:Note) RETURN n.title ORDER BY n.title").rows == [("a",), ("b",)]
        assert vault.report.origin == "cache"
    assert reads == ["A.md", "B.md"]


def test_a_visit_that_finds_all_as_it_was_writes_no_stamps(write, monkeypatch):
    folder = write({"A.md": "# a ![[b.png]]", "b.png": "no picture", "c.txt": "c"})
    age(folder, monkeypatch)
    vaultgraph.open(folder).close()
    kept = stamp_path(folder)
    assert kept is not None
    before = kept.stat()
    with vaultgraph.open(folder) as vault:
        assert vault.report.origin == "cache"
    assert kept.stat().st_ino == before.st_ino


def test_an_edit_that_restores_size_and_time_is_read_on_the_next_visit(write, reads, monkeypatch):
    folder = write({"A.md": "# aaaa", "B.md": "# b"})
    age(folder, monkeypatch)
    vaultgraph.open(folder).close()
    reads.clear()
    before = (folder / "A.md").stat()
    write({"A.md": "# bbbb"})
    os.utime(folder / "A.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    with vaultgraph.open(folder) as vault:
        assert vault.query("MATCH (n:Note {stem: 'A'}) RETURN n.title").rows == [("bbbb",)]
    assert reads == ["A.md"]


def test_a_note_written_just_before_the_visit_is_read_again(write, reads):
    folder = write({"A.md": "# a"})
    vaultgraph.open(folder).close()
    vaultgraph.open(folder).close()
    assert reads == ["A.md", "A.md"]


def test_stamps_of_another_cache_vouch_for_nothing(write, reads, monkeypatch):
    folder = write({"A.md": "# a"})
    age(folder, monkeypatch)
    vaultgraph.open(folder).close()
    old = (folder / ".kglite/graph.kgl").read_bytes()
    write({"A.md": "# other"})
    vaultgraph.open(folder).close()
    (folder / ".kglite/graph.kgl").write_bytes(old)  # the cache as of an older commit, say
    reads.clear()
    with vaultgraph.open(folder) as vault:
        assert vault.query("MATCH (n:Note) RETURN n.title").rows == [("other",)]
    assert reads == ["A.md"]


@pytest.mark.parametrize("content", [b"", b"junk", b"VGRAPH"])
def test_a_damaged_stamp_file_is_no_more_than_a_missing_one(write, reads, monkeypatch, content):
    folder = write({"A.md": "# a"})
    age(folder, monkeypatch)
    vaultgraph.open(folder).close()
    path = stamp_path(folder.resolve())
    assert path is not None
    assert path.is_file()
    path.write_bytes(content)
    with vaultgraph.open(folder) as vault:
        assert vault.query("MATCH (n:Note) RETURN n.title").rows == [("a",)]
    assert reads == ["A.md", "A.md"]


def test_without_a_cache_nothing_is_kept(write, monkeypatch):
    folder = write({"A.md": "# a"})
    age(folder, monkeypatch)
    vaultgraph.open(folder, cache=None).close()
    path = stamp_path(folder.resolve())
    assert path is not None
    assert not path.exists()
    assert not (folder / ".kglite").exists()


def test_a_cache_folder_that_cannot_be_made_is_no_error(write, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    folder = write({"A.md": "# a"})
    with vaultgraph.open(folder) as vault:
        assert vault.report.notes == 1
        records = vault.latest.records
    save_stamps(stamp_path(folder), KNOWN.to_frame().drop("hash"), records)
    assert load_stamps(stamp_path(folder), records).height == 0


def test_another_file_of_the_same_size_and_times_is_read(write, reads, monkeypatch):
    folder = write({"A.md": "# a", "B.md": "# b"})
    age(folder, monkeypatch)
    with vaultgraph.open(folder) as vault:
        records = vault.current().records
        files = vault.current().stamps.files
    assert files["inode"].to_list() == [(folder / path).stat().st_ino for path in ("A.md", "B.md")]
    reads.clear()
    other = pl.col("inode") + (pl.col("path") == "B.md").cast(pl.Int64)
    save_stamps(stamp_path(folder.resolve()), files.with_columns(inode=other), records)
    with vaultgraph.open(folder) as vault:
        assert vault.report.parsed == 0
    assert reads == ["B.md"]
