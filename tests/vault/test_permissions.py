"""Vaults that the operating system lets us read only in part. Run as root, the tests act as an ordinary user."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import vaultgraph
from vaultgraph.errors import SettingsError
from vaultgraph.vault.refresh import preload

NOBODY = 65534


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A vault with two notes in a folder that any user may reach (pytest's own are closed to others)."""
    above = Path(tempfile.mkdtemp(prefix="vaultgraph-permissions-"))
    above.chmod(0o755)
    folder = above / "vault"
    folder.mkdir()
    (folder / "A.md").write_text("[[B]]")
    (folder / "B.md").write_text("b")
    yield folder
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)
    shutil.rmtree(above)


@pytest.fixture
def ordinary_user(shared_folder: Path) -> Iterator[None]:
    """Root reads and writes everything: step down for the test."""
    preload()
    with vaultgraph.open(shared_folder, cache=None) as vault:
        vault.query("RETURN 1")  # whatever is imported late is imported while this process may read it
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    yield
    os.seteuid(0)


def as_owner(change) -> None:
    """Do something as the user who started the tests."""
    user = os.geteuid()
    if os.getuid() == 0:
        os.seteuid(0)
    change()
    os.seteuid(user)


def test_a_read_only_vault_is_served_without_a_cache_and_says_so(shared_folder: Path, ordinary_user: None):
    as_owner(lambda: shared_folder.chmod(0o555))
    with vaultgraph.open(shared_folder) as vault:
        assert vault.query("MATCH (n:Note) RETURN count(*)").rows == [(2,)]
        remark = vault.save()
        assert remark is not None
        assert "--vault-cache" in remark
    assert sorted(path.name for path in shared_folder.iterdir()) == ["A.md", "B.md"]


def test_an_unreadable_vault_is_refused_with_advice(shared_folder: Path, ordinary_user: None):
    as_owner(lambda: shared_folder.chmod(0o000))
    with pytest.raises(SettingsError, match=r"cannot be read.*permissions"):
        vaultgraph.open(shared_folder)


def test_an_unreadable_note_is_a_problem_and_the_others_are_answered(shared_folder: Path, ordinary_user: None):
    as_owner(lambda: (shared_folder / "B.md").chmod(0o000))
    with vaultgraph.open(shared_folder, cache=None) as vault:
        rows = "MATCH (n:Note) RETURN n.path, n.title, n.body ORDER BY n.path"
        assert vault.query(rows).rows == [("A.md", "A", "[[B]]"), ("B.md", "B", None)]
        assert vault.query("MATCH (:Note {stem: 'A'})-[:LINKS_TO]->(b) RETURN b.path").rows == [("B.md",)]
        assert ("B.md", "unreadable") in vault.report.problems.select("path", "code").rows()
        as_owner(lambda: (shared_folder / "B.md").chmod(0o644))
        vault.refresh()
        assert vault.query(rows).rows[1] == ("B.md", "B", "b")


def test_a_note_that_becomes_unreadable_keeps_its_last_record(shared_folder: Path, ordinary_user: None):
    with vaultgraph.open(shared_folder, cache=None) as vault:
        as_owner(lambda: ((shared_folder / "B.md").write_text("# longer"), (shared_folder / "B.md").chmod(0o000)))
        vault.refresh()
        assert vault.query("MATCH (n:Note) RETURN n.path, n.body ORDER BY n.path").rows == [
            ("A.md", "[[B]]"),
            ("B.md", "b"),
        ]
        assert ("B.md", "unreadable") in vault.report.problems.select("path", "code").rows()


def test_a_note_that_can_be_read_again_is_no_problem_though_the_cache_says_so(
    shared_folder: Path, ordinary_user: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_folder.with_name("caches")))
    as_owner(lambda: shared_folder.chmod(0o777))
    found: list[tuple[list[str], str]] = []
    for mode in (0o644, 0o000, 0o000, 0o644, 0o644):
        as_owner(lambda mode=mode: (shared_folder / "B.md").chmod(mode))
        with vaultgraph.open(shared_folder) as vault:
            found.append((vault.report.problems["code"].to_list(), vault.report.origin))
            assert vault.query("MATCH (n:Note) RETURN n.body ORDER BY n.path").rows == [("[[B]]",), ("b",)]
    assert [codes for codes, _ in found] == [[], ["unreadable"], ["unreadable"], [], []]
    assert [origin for _, origin in found] == ["built", *["cache"] * 4]


def test_an_unreadable_folder_is_a_problem(shared_folder: Path, ordinary_user: None):
    def close() -> None:
        (shared_folder / "closed").mkdir()
        (shared_folder / "closed" / "C.md").write_text("c")
        (shared_folder / "closed").chmod(0o000)

    as_owner(close)
    with vaultgraph.open(shared_folder, cache=None) as vault:
        assert vault.report.notes == 2
        assert ("closed", "unreadable") in vault.report.problems.select("path", "code").rows()


def test_a_cache_folder_of_the_user_that_only_another_user_may_enter_is_done_without(
    shared_folder: Path, ordinary_user: None, monkeypatch: pytest.MonkeyPatch
):
    as_owner(lambda: shared_folder.chmod(0o777))
    caches = shared_folder.with_name("caches")
    closed = caches / "vaultgraph"  # as a start with sudo leaves it
    as_owner(lambda: closed.mkdir(parents=True, mode=0o700))
    if os.geteuid() == os.getuid():
        closed.chmod(0o000)
    monkeypatch.setenv("XDG_CACHE_HOME", str(caches))
    with vaultgraph.open(shared_folder):
        pass
    try:
        with vaultgraph.open(shared_folder) as vault:
            assert vault.report.origin == "cache"
            assert vault.query("MATCH (n:Note) RETURN count(*)").rows == [(2,)]
    finally:
        as_owner(lambda: closed.chmod(0o700))
