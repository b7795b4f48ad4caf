"""Watching when it is hard: two callers at once, no watch yet or none left, no events, the folder itself moved."""

import errno
import gc
import os
import sys
import threading
from collections.abc import Callable, Sized
from datetime import UTC, datetime
from pathlib import Path

import pytest

import vaultgraph
from vaultgraph.serve.marks import marks_of
from vaultgraph.serve.overview import freshness
from vaultgraph.vault.bell import ANYTHING, Bell
from vaultgraph.vault.watch import POLL_REST, POLL_S, Watcher, WatchMode

PATIENCE_S = 30.0  # a bound for a stuck machine, not a measurement
TITLES = "MATCH (n:Note) RETURN n.title ORDER BY n.title"
COUNT = "MATCH (n:Note) RETURN count(*)"

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has inotify")


def threads() -> list[str]:
    """Threads of vaults that are open."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("vaultgraph-")]


class Watching:
    """Watchers that are stopped at the end of a test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.quiet = threading.Event()
        self.watchers: list[Watcher] = []

    def start(self, hang: Callable[[Path], Bell | None] = Bell.hang) -> Watcher:
        watcher = Watcher(self.folder, self.quiet.set, hang=hang)
        self.watchers.append(watcher)
        return watcher

    def in_place(self, hang: Callable[[Path], Bell | None] = Bell.hang) -> Watcher:
        watcher = self.start(hang)
        assert self.quiet.wait(PATIENCE_S), "the watch never came up"
        watcher.take()
        return watcher

    def wait_until_it_hears_again(self, watcher: Watcher, tries: Sized) -> None:
        """Wait for a second try to hang a bell, and see that an edit is heard by it."""
        while len(tries) < 2 or watcher.is_dirty:
            assert self.quiet.wait(PATIENCE_S)
            self.quiet.clear()
            watcher.take()
        (self.folder / "A.md").write_text("a")
        watcher.settle()
        assert watcher.take() == {"A.md"}


@pytest.fixture
def watching(folder: Path):
    watching = Watching(folder)
    yield watching
    for watcher in watching.watchers:
        watcher.stop()


@on_linux
def test_what_one_caller_heard_another_finds_marked(folder: Path, watching: Watching) -> None:
    found: list[bool] = []

    class Slow(Bell):
        """Holds what it heard for a while, as a thread does that has to wait for its turn."""

        def heard(self) -> set[str]:
            paths = super().heard()
            if paths and threading.current_thread() is threading.main_thread():
                other.start()
                other.join(0.1)
            return paths

    watcher = watching.in_place(Slow.hang)

    def ask() -> None:
        watcher.settle()
        found.append(watcher.is_dirty)

    other = threading.Thread(target=ask)
    while not other.ident:  # the watcher's own thread may be faster
        watcher.take()
        (folder / "A.md").write_text("a")
        watcher.settle()
    other.join(PATIENCE_S)
    assert found == [True]


def test_until_the_watch_is_in_place_every_call_looks_itself(folder: Path, watching: Watching) -> None:
    goes_on = threading.Event()

    def hang(where: Path) -> Bell | None:
        assert goes_on.wait(PATIENCE_S)
        return Bell.hang(where)

    watcher = watching.start(hang)
    watcher.take()
    (folder / "A.md").write_text("a")
    watcher.settle()
    assert watcher.is_dirty
    goes_on.set()
    assert watching.quiet.wait(PATIENCE_S)
    assert watcher.take() is not None


@on_linux
def test_without_watches_every_call_looks_itself_until_there_are_some(folder: Path, watching: Watching) -> None:
    attempts: list[Path] = []

    def hang(where: Path) -> Bell | None:
        attempts.append(where)
        if len(attempts) == 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return Bell.hang(where)

    watcher = watching.start(hang)
    for _ in range(3):
        watcher.settle()
        assert watcher.is_dirty
        watcher.take()
    watching.wait_until_it_hears_again(watcher, attempts)


@on_linux
def test_a_bell_that_breaks_is_hung_anew(folder: Path, watching: Watching) -> None:
    hung: list[Bell] = []

    class Brittle(Bell):
        is_broken = False

        def heard(self) -> set[str]:
            if self.is_broken:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().heard()

    def hang(where: Path) -> Bell | None:
        bell = Brittle.hang(where)
        assert bell is not None
        hung.append(bell)
        return bell

    watcher = watching.in_place(hang)
    watching.quiet.clear()
    assert isinstance(hung[0], Brittle)
    hung[0].is_broken = True
    watcher.settle()
    assert watcher.is_dirty
    watching.wait_until_it_hears_again(watcher, hung)


@on_linux
def test_writing_the_cache_is_no_edit(folder: Path, watching: Watching) -> None:
    (folder / "A.md").write_text("a")
    with vaultgraph.open(folder) as vault:
        vault.save()  # makes .kglite, where guidance could lie
        watcher = watching.in_place()
        (folder / "B.md").write_text("b")
        watcher.settle()
        assert watcher.take() == {"B.md"}
        vault.refresh()
        vault.save()
        assert vault.report.notes == 2
    watcher.settle()
    assert not watcher.is_dirty


def test_without_events_a_query_looks_again_after_a_while(folder: Path) -> None:
    now = 100.0
    watcher = Watcher(folder.resolve(), lambda: None, poll=True, clock=lambda: now)
    try:
        watcher.settle()
        assert watcher.is_dirty
        watcher.take()
        watcher.looked(0.01)
        now += POLL_S / 2
        watcher.settle()
        assert not watcher.is_dirty
        now += POLL_S
        watcher.settle()
        assert watcher.take() == {ANYTHING}
        watcher.looked(2.0)  # where a look is slow, it does not take all the time there is
        now += 2.0 * POLL_REST - 0.1
        watcher.settle()
        assert not watcher.is_dirty
        now += 0.2
        watcher.settle()
        assert watcher.is_dirty
    finally:
        watcher.stop()


def test_a_polled_vault_shows_an_edit(folder: Path) -> None:
    (folder / "A.md").write_text("# one")
    (folder / "all").symlink_to("/")  # where a watch that follows symlinks would never come to an end
    with vaultgraph.open(folder, cache=None, watch="poll") as vault:
        assert vault.query(TITLES).rows == [("one",)]
        (folder / "A.md").write_text("# two")
        late = threading.Event()
        timer = threading.Timer(PATIENCE_S, late.set)
        timer.start()
        while vault.query(TITLES).rows != [("two",)]:
            assert not late.is_set(), "the edit never showed"
        timer.cancel()


def test_a_vault_that_is_not_watched_answers_what_refresh_last_saw(folder: Path) -> None:
    (folder / "A.md").write_text("# one")
    with vaultgraph.open(folder, cache=None, watch="off") as vault:
        assert threads() == []
        (folder / "A.md").write_text("# two")
        assert vault.query(TITLES).rows == [("one",)]
        vault.refresh()
        assert vault.query(TITLES).rows == [("two",)]


@pytest.mark.parametrize("mode", ["off", "poll"])
def test_without_events_a_snapshot_is_true_of_the_last_look_and_says_so(folder: Path, mode: WatchMode) -> None:
    def said(vault: vaultgraph.Vault) -> datetime:
        return datetime.fromisoformat(marks_of(vault.latest, datetime.now(UTC)).as_of)

    (folder / "A.md").write_text("# one")
    with vaultgraph.open(folder, cache=None, watch=mode) as vault:
        before = vault.latest
        assert before is not None
        assert before.looked_at <= before.built_at
        (folder / ".hidden").write_text("nothing of the vault")
        vault.refresh()
        after = vault.latest
        assert after is not None
        assert after.generation == before.generation
        assert after.looked_at > before.looked_at
        assert said(vault) == after.looked_at.replace(microsecond=0)
        state = freshness(after, datetime.now(UTC))
        assert state.endswith("not watched: later edits show after rebuild_graph" if mode == "off" else " · fresh")
    with vaultgraph.open(folder, cache=None, watch="auto") as vault:
        asked = datetime.now(UTC)
        assert marks_of(vault.current(), asked).as_of == f"{asked:%Y-%m-%dT%H:%M:%SZ}"
        assert freshness(vault.current(), asked).endswith(" · fresh")


@on_linux
def test_a_thousand_files_at_once_are_few_generations(folder: Path) -> None:
    with vaultgraph.open(folder, cache=None, watch="auto") as vault:
        before = vault.current().generation
        for number in range(1000):
            (folder / f"{number}.md").write_text("a")
        assert vault.query(COUNT).rows == [(1000,)]
        assert vault.current().generation <= before + 3  # one, unless the machine stood still in between


@on_linux
def test_closing_a_watched_vault_leaves_no_descriptor_and_no_thread(folder: Path) -> None:
    def use() -> None:
        with vaultgraph.open(folder, watch="auto") as vault:
            (folder / "sub").mkdir(exist_ok=True)
            vault.query(COUNT)

    def held() -> list[str]:
        gc.collect()
        handles = [path for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
        return sorted(str(path.readlink()) for path in handles)

    use()
    before = held()
    use()
    assert held() == before
    assert threads() == []


@pytest.mark.parametrize("replace", ["folder", "symlink", "parent"])
def test_a_folder_put_in_the_place_of_the_vault_is_the_vault(tmp_path: Path, replace: str) -> None:
    vault_folder, other = tmp_path / "home" / "vault", tmp_path / "other"
    for folder, title in ((vault_folder, "old"), (other, "new")):
        folder.mkdir(parents=True)
        (folder / "A.md").write_text(f"# {title}")
    with vaultgraph.open(vault_folder, cache=None, watch="auto") as vault:
        assert vault.query(TITLES).rows == [("old",)]
        match replace:
            case "folder":
                vault_folder.rename(tmp_path / "away")
                other.rename(vault_folder)
            case "symlink":
                vault_folder.rename(tmp_path / "away")
                vault_folder.symlink_to(other)
            case _:
                vault_folder.parent.rename(tmp_path / "away")
                vault_folder.parent.mkdir()
                other.rename(vault_folder)
        assert vault.query(TITLES).rows == [("new",)]
        (vault_folder / "B.md").write_text("# newer")
        assert vault.query(TITLES).rows == [("new",), ("newer",)]


@on_linux
def test_a_misplaced_configuration_is_a_problem_only_while_it_is_there(folder: Path) -> None:
    (folder / ".kglite" / "sub").mkdir(parents=True)
    (folder / "A.md").write_text("a")

    def misplaced(vault: vaultgraph.Vault) -> list[str]:
        return [path for path, _, code, *_ in vault.current().problems.rows() if code == "misplaced-configuration"]

    with vaultgraph.open(folder, cache=None, watch="auto") as vault:
        assert misplaced(vault) == []
        for name in ("vault.yml", "sub/vault.yaml"):
            file = folder / ".kglite" / name
            file.write_text("kglite_vault: 1\n")
            assert misplaced(vault) == [f".kglite/{name}"]
            file.unlink()
            assert misplaced(vault) == []


@on_linux
def test_a_note_saved_by_a_rename_is_stamped_as_a_look_at_the_folder_would(folder: Path) -> None:
    (folder / "A.md").write_text("# one")
    with vaultgraph.open(folder, cache=None, watch="auto") as vault:
        vault.query(TITLES)
        for number in range(3):
            other = folder / ".A.md.tmp"
            other.write_text(f"# {number}")
            other.replace(folder / "A.md")
            assert vault.query(TITLES).rows == [(f"{number}",)]
            seen = vault.current().stamps.files
            vault.refresh()
            assert vault.current().stamps.files.equals(seen)
