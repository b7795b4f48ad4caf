"""Following edits: what is marked, what is not, and that a query after an edit sees it."""

import os
import threading
import time
from pathlib import Path

import pytest

import vaultgraph
from vaultgraph.vault.watch import Watcher

PATIENCE_S = 30.0  # a bound for a stuck machine, not a measurement


class Ear:
    """A watcher whose quiet moments can be waited for."""

    def __init__(self, folder: Path, **options: bool) -> None:
        self.quiet = threading.Event()
        self.watcher = Watcher(folder, self.quiet.set, **options)
        assert self.quiet.wait(PATIENCE_S), "the watch never came up"
        self.watcher.take()
        self.quiet.clear()

    def heard(self) -> set[str] | None:
        assert self.quiet.wait(PATIENCE_S), "no event arrived"
        self.quiet.clear()
        return self.watcher.take()


@pytest.fixture
def ear(folder: Path):
    (folder / ".kglite").mkdir()
    (folder / ".obsidian").mkdir()
    found = Ear(folder.resolve())
    yield found
    found.watcher.stop()


def test_written_paths_are_marked(folder: Path, ear: Ear):
    (folder / "A.md").write_text("a")
    assert ear.heard() == {"A.md"}


def test_a_rename_over_a_note_marks_the_note(folder: Path, ear: Ear):
    (folder / "tmp").write_text("new")
    (folder / "tmp").rename(folder / "A.md")
    assert "A.md" in (ear.heard() or set())


def test_files_of_a_new_folder_are_followed(folder: Path, ear: Ear):
    (folder / "new").mkdir()
    assert "new" in (ear.heard() or set())
    (folder / "new" / "B.md").write_text("b")
    assert ear.heard() == {"new/B.md"}


def test_a_folder_of_skills_that_comes_or_goes_is_an_edit(folder: Path, ear: Ear):
    (folder / "off").mkdir()
    (folder / "off" / "tour.md").write_text("x")
    assert ear.heard()
    (folder / "off").rename(folder / ".kglite" / "skills")
    assert ".kglite/skills" in (ear.heard() or set())
    (folder / ".kglite" / "skills").rename(folder / ".kglite" / "away")
    assert ".kglite/skills" in (ear.heard() or set())


def test_dot_folders_and_the_cache_are_not_edits_but_configuration_is(folder: Path, ear: Ear):
    (folder / ".obsidian" / "workspace.json").write_text("{}")
    (folder / ".kglite" / "graph.kgl").write_text("x")
    (folder / ".hidden.md").write_text("x")
    (folder / ".kglite" / "vault.yaml").write_text("kglite_vault: 1")
    assert ear.heard() == {".kglite/vault.yaml"}


def test_a_watched_vault_shows_an_edit_without_being_told(folder: Path):
    (folder / "A.md").write_text("# one")
    with vaultgraph.open(folder, cache=None, watch="auto") as vault:
        assert vault.query("MATCH (n:Note) RETURN n.title").rows == [("one",)]
        (folder / "A.md").write_text("# two")
        waiting = threading.Event()
        timer = threading.Timer(PATIENCE_S, waiting.set)
        timer.start()
        while vault.query("MATCH (n:Note) RETURN n.title").rows != [("two",)]:
            assert not waiting.is_set(), "the edit never showed"
        timer.cancel()


def test_a_watched_vault_saves_its_cache_in_the_background_and_at_the_end(folder: Path):
    (folder / "A.md").write_text("# one")
    with vaultgraph.open(folder, watch="auto"):
        (folder / "B.md").write_text("# two")
    with vaultgraph.open(folder) as vault:
        assert vault.report.origin == "cache"
        assert vault.report.notes == 2


def test_a_name_that_is_not_utf8_does_not_end_the_watch(folder: Path):
    with vaultgraph.open(folder, cache=None, watch="auto") as vault:
        assert vault.query("MATCH (n:Note) RETURN count(*)").rows == [(0,)]
        for number in range(1, 4):
            (folder / os.fsdecode(b"bad\xff%d.md" % number)).write_text("x")
            (folder / f"{number}.md").write_text("x")
            deadline = time.monotonic() + PATIENCE_S
            while vault.query("MATCH (n:Note) RETURN count(*)").rows != [(number,)]:
                assert time.monotonic() < deadline, "the edit was never seen"
