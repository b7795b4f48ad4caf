"""A note is known by its content: whatever a copy did to times, nothing unchanged is parsed and no change is missed."""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import vaultgraph
from vaultgraph.files.root import VaultRoot
from vaultgraph.files.stamps import Stamps
from vaultgraph.vault import refresh as passes

TITLES = "MATCH (n:Note) RETURN n.path, n.title ORDER BY n.path"
NOTES = {"A.md": "# aa", "B.md": "# bb\n[[A]]", "sub/C.md": "# cc", "sub/D.md": "# dd", "pic.png": b"\x89PNG"}


def titles(vault: vaultgraph.Vault) -> dict[str, str]:
    return dict(vault.query(TITLES).rows)


def copy_with_new_times(source: Path, target: Path) -> None:
    shutil.copytree(source, target, copy_function=shutil.copy)


def copy_with_its_times(source: Path, target: Path) -> None:
    shutil.copytree(source, target, copy_function=shutil.copy2)


def clone(source: Path, target: Path) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "notes and cache"]):
        subprocess.run(["git", *who, *arguments], cwd=source, check=True, capture_output=True)
    subprocess.run(["git", "clone", "-q", source, target], check=True, capture_output=True)


def synchronise(source: Path, target: Path) -> None:
    """As rsync and sync clients do: each file under a name of its own, with the times of the source, then renamed."""
    for file in sorted(source.rglob("*")):
        if file.is_file():
            place = target / file.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            other = place.with_name(f".{place.name}.Xy12")
            shutil.copy2(file, other)
            other.replace(place)


@pytest.fixture(params=[copy_with_new_times, copy_with_its_times, clone, synchronise])
def copied(request: pytest.FixtureRequest, write, tmp_path: Path) -> Path:
    """A copy, by another path, of a vault with its cache."""
    way: Callable[[Path, Path], None] = request.param
    if way is clone and shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder, target = write(NOTES), tmp_path / "elsewhere" / "copy"
    vaultgraph.open(folder).close()
    target.parent.mkdir()
    way(folder, target)
    return target


def test_a_copy_with_its_cache_parses_nothing(copied: Path) -> None:
    cache = (copied / ".kglite/graph.kgl").read_bytes()
    with vaultgraph.open(copied) as vault:
        assert (vault.report.origin, vault.report.parsed) == ("cache", 0)
        assert titles(vault) == {"A.md": "aa", "B.md": "bb", "sub/C.md": "cc", "sub/D.md": "dd"}
    assert (copied / ".kglite/graph.kgl").read_bytes() == cache


def test_every_change_in_a_copy_is_found_and_nothing_else_is_parsed(copied: Path) -> None:
    before = (copied / "A.md").stat()
    (copied / "A.md").write_text("# xx")  # the same size
    os.utime(copied / "A.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    (copied / "sub/C.md").rename(copied / "sub/E.md")
    (copied / "sub/D.md").unlink()
    with vaultgraph.open(copied) as vault:
        assert (vault.report.origin, vault.report.parsed) == ("cache", 2)
        assert titles(vault) == {"A.md": "xx", "B.md": "bb", "sub/E.md": "cc"}


def test_a_vault_written_back_from_a_backup_is_what_it_was(write, tmp_path: Path) -> None:
    folder = write(NOTES)
    vaultgraph.open(folder).close()
    shutil.copytree(folder, tmp_path / "backup")
    with vaultgraph.open(folder) as vault:
        for file in folder.rglob("*.md"):
            file.write_text("# lost")
        assert vault.refresh().parsed == 4
        synchronise(tmp_path / "backup", folder)
        assert vault.refresh().parsed == 4
        assert titles(vault) == {"A.md": "aa", "B.md": "bb", "sub/C.md": "cc", "sub/D.md": "dd"}
    with vaultgraph.open(folder) as vault:
        assert (vault.report.origin, vault.report.parsed) == ("cache", 0)


def stand_still(monkeypatch: pytest.MonkeyPatch, age_ns: int) -> None:
    """A file system whose clock stands still: each stat pass finds the same times and inodes, so long after them."""
    real = passes.scan

    def scan(root: VaultRoot, skip_dirs: Sequence[str]) -> Stamps:
        found = real(root, skip_dirs)
        still = {name: pl.lit(10**18, dtype=pl.Int64) for name in ("mtime_ns", "ctime_ns", "inode")}
        return replace(found, files=found.files.with_columns(**still), taken_ns=10**18 + age_ns)

    monkeypatch.setattr(passes, "scan", scan)


def test_an_edit_of_the_same_size_in_the_same_tick_of_the_clock_is_found(
    write, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_still(monkeypatch, age_ns=passes.RACY_NS)
    folder = write({"A.md": "# aa"})
    with vaultgraph.open(folder) as vault:
        for title in ("bb", "cc"):
            write({"A.md": f"# {title}"})
            assert vault.refresh().parsed == 1
            assert titles(vault) == {"A.md": title}
    write({"A.md": "# dd"})
    with vaultgraph.open(folder) as vault:
        assert titles(vault) == {"A.md": "dd"}


def test_a_note_that_was_old_when_it_was_read_is_known_by_its_times(write, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_still(monkeypatch, age_ns=passes.RACY_NS + 1)
    folder = write({"A.md": "# aa"})
    with vaultgraph.open(folder) as vault:
        write({"A.md": "# bb"})  # what no file system does: a write that leaves no trace
        vault.refresh()
        assert titles(vault) == {"A.md": "aa"}


def test_an_edit_that_restores_its_time_is_found_by_the_next_look(write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "RACY_NS", -(10**18))  # files are old as soon as they are read
    folder = write({"A.md": "# aa", "B.md": "# bb"})
    with vaultgraph.open(folder) as vault:
        assert vault.refresh().parsed == 2
        before = (folder / "A.md").stat()
        write({"A.md": "# xx"})
        os.utime(folder / "A.md", ns=(before.st_atime_ns, before.st_mtime_ns))
        assert vault.refresh().parsed == 1
        assert titles(vault) == {"A.md": "xx", "B.md": "bb"}
