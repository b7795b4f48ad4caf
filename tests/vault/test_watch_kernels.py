"""What every way of watching must do: the bell of Linux, and the event source of watchfiles that other systems have."""

import logging
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from watchfiles._rust_notify import RustNotify

import vaultgraph
from vaultgraph.vault import watch
from vaultgraph.vault.bell import ANYTHING
from vaultgraph.vault.watch import Watcher

PATIENCE_S = 30.0  # a bound for a stuck machine, not a measurement
COUNT = "MATCH (n:Note) RETURN count(*)"
TITLES = "MATCH (n:Note) RETURN n.title ORDER BY n.title"


def without_bell(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a system without inotify, or where its library is not installed."""
    monkeypatch.setitem(sys.modules, "inotify_simple", None)


@pytest.fixture(params=["bell", "source"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "source":
        without_bell(monkeypatch)
    elif request.param == "bell" and sys.platform != "linux":
        pytest.skip("only Linux has inotify")
    return request.param


@pytest.fixture
def vault(kernel: str, folder: Path) -> Iterator[vaultgraph.Vault]:
    """A watched vault with one note, `sub/A.md`, whose watch is in place."""
    (folder / "sub").mkdir()
    (folder / "sub" / "A.md").write_text("# old")
    with vaultgraph.open(folder, cache=None, watch="poll" if kernel == "poll" else "auto") as vault:
        assert kernel == "poll" or in_place(vault)
        yield vault


def in_place(vault: vaultgraph.Vault) -> bool:
    until = time.monotonic() + PATIENCE_S
    while vault._watcher._is_lost and time.monotonic() < until:
        time.sleep(0.001)
    return (vault._watcher._bell is None) == (sys.modules.get("inotify_simple", "") is None)


def titles(vault: vaultgraph.Vault) -> list[str]:
    return [title for (title,) in vault.query(TITLES).rows]


every_way = pytest.mark.parametrize("kernel", ["bell", "source", "poll"], indirect=True)


def expect(vault: vaultgraph.Vault, query: str, *values: object) -> None:
    """The answer: at once where there is a bell, with the next look where there are no events.

    A source may have no event of what is written to a folder made a moment ago: a look follows when it is quiet.
    """
    until = time.monotonic() + (PATIENCE_S if vault._watcher._bell is None else 0.0)
    rows = [(value,) for value in values]
    while vault.query(query).rows != rows and time.monotonic() < until:
        time.sleep(0.01)
    assert vault.query(query).rows == rows


def save_in_place(note: Path) -> None:
    note.write_text("# new")


def save_by_rename(note: Path) -> None:
    """As Obsidian's sync and rsync do."""
    other = note.with_name(f".{note.name}.Xy12")
    other.write_text("# new")
    other.replace(note)


def save_with_backup(note: Path) -> None:
    """As vim does."""
    note.rename(note.with_name(f"{note.name}~"))
    note.write_text("# new")
    note.with_name(f"{note.name}~").unlink()


def save_from_outside(note: Path) -> None:
    """From a folder beside the vault, as some sync clients do."""
    other = note.parents[2] / "download"
    other.write_text("# new")
    other.replace(note)


def save_by_link(note: Path) -> None:
    """As git does."""
    other = note.with_name("tmp_obj")
    other.write_text("# new")
    note.unlink()
    note.hardlink_to(other)
    other.unlink()


def save_restoring_time(note: Path) -> None:
    """The same size and time as before."""
    before = note.stat()
    note.write_text("# new")
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    "save",
    [save_in_place, save_by_rename, save_with_backup, save_from_outside, save_by_link, save_restoring_time],
)
def test_a_note_saved_in_any_way_is_in_the_next_answer(
    folder: Path, vault: vaultgraph.Vault, save: Callable[[Path], None]
) -> None:
    assert titles(vault) == ["old"]
    save(folder / "sub" / "A.md")
    assert titles(vault) == ["new"]


def test_each_of_many_edits_is_in_the_answer_that_follows_it(folder: Path, vault: vaultgraph.Vault) -> None:
    for number in range(30):
        (folder / "sub" / "A.md").write_text(f"# {number}")
        assert titles(vault) == [str(number)]


def test_when_edits_pause_the_next_answer_is_ready_before_it_is_asked_for(
    folder: Path, vault: vaultgraph.Vault
) -> None:
    assert titles(vault) == ["old"]
    assert vault.latest is not None
    before = vault.latest.generation
    save_by_rename(folder / "sub" / "A.md")  # in one step: a look halfway through would be a generation too
    until = time.monotonic() + PATIENCE_S
    while vault.latest.generation == before and time.monotonic() < until:
        time.sleep(0.01)
    ready = vault.latest.generation
    assert ready > before
    assert titles(vault) == ["new"]
    assert vault.latest.generation == ready


@every_way
def test_folders_that_come_go_and_come_back_are_followed(folder: Path, vault: vaultgraph.Vault, tmp_path: Path) -> None:
    (folder / "new" / "er").mkdir(parents=True)
    (folder / "new" / "er" / "B.md").write_text("# b")
    expect(vault, TITLES, "b", "old")
    (folder / "new" / "er" / "B.md").write_text("# bb")
    expect(vault, TITLES, "bb", "old")
    shutil.rmtree(folder / "sub")
    expect(vault, TITLES, "bb")
    (folder / "sub").mkdir()
    (folder / "sub" / "A.md").write_text("# back")
    expect(vault, TITLES, "back", "bb")
    (folder / "sub" / "A.md").write_text("# again")
    expect(vault, TITLES, "again", "bb")
    (folder / "new").rename(tmp_path / "outside")
    expect(vault, TITLES, "again")
    (tmp_path / "outside").rename(folder / "inside")
    (folder / "inside" / "er" / "B.md").write_text("# returned")
    expect(vault, TITLES, "again", "returned")


@every_way
def test_names_that_change_in_case_alone_are_followed(folder: Path, vault: vaultgraph.Vault) -> None:
    paths = "MATCH (n:Note) RETURN n.path"
    (folder / "sub" / "A.md").rename(folder / "sub" / "a.md")
    expect(vault, paths, "sub/a.md")
    (folder / "sub").rename(folder / "SUB")
    expect(vault, paths, "SUB/a.md")


@every_way
def test_attachments_and_configuration_are_followed(folder: Path, vault: vaultgraph.Vault) -> None:
    (folder / "sub" / "A.md").write_text("![[pic.png]]")
    missing = "CALL vault.problems() YIELD code RETURN code"
    expect(vault, missing, "missing-attachment")
    (folder / "pic.png").write_bytes(b"\x89PNG")
    expect(vault, missing)
    (folder / "pic.png").unlink()
    expect(vault, missing, "missing-attachment")
    (folder / ".kglite").mkdir()
    (folder / ".kglite" / "vault.yaml").write_text("kglite_vault: 1\ndefault_label: Page\n")
    expect(vault, "MATCH (n:Page) RETURN count(*)", 1)
    (folder / ".kglite" / "vault.yaml").unlink()
    expect(vault, "MATCH (n:Page) RETURN count(*)", 0)


@every_way
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_checkout_of_a_thousand_files_is_in_the_next_answer(folder: Path, vault: vaultgraph.Vault) -> None:
    def git(*arguments: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)

    git("init", "-q", "-b", "few")
    git("add", ".")
    git("commit", "-qm", "few")
    git("checkout", "-qb", "many")
    (folder / "more").mkdir()
    for number in range(1000):
        (folder / "more" / f"{number}.md").write_text("a")
    git("add", ".")
    git("commit", "-qm", "many")
    expect(vault, COUNT, 1001)
    git("checkout", "-q", "few")
    expect(vault, COUNT, 1)
    git("checkout", "-q", "many")
    expect(vault, COUNT, 1001)
    (folder / "more" / "7.md").write_text("# seven")
    expect(vault, "MATCH (n:Note {title: 'seven'}) RETURN count(*)", 1)


def test_a_vault_that_is_removed_and_made_again_is_followed_again(folder: Path, vault: vaultgraph.Vault) -> None:
    shutil.rmtree(folder)
    assert titles(vault) == ["old"]
    stale = vault.current().stale
    assert stale is not None
    assert "is gone" in stale
    folder.mkdir()
    (folder / "B.md").write_text("# b")
    until = time.monotonic() + PATIENCE_S
    while vault.current().stale and time.monotonic() < until:
        time.sleep(0.01)
    assert titles(vault) == ["b"]
    (folder / "B.md").write_text("# bb")
    assert titles(vault) == ["bb"]


def test_names_that_are_not_utf8_do_not_end_the_watch(folder: Path, vault: vaultgraph.Vault) -> None:
    for number in range(1, 4):
        (folder / os.fsdecode(b"bad\xff%d.md" % number)).write_text("x")
        (folder / f"{number}.md").write_text("x")
        assert vault.query(COUNT).rows == [(1 + number,)]


class Watching:
    """A watcher and its quiet moments."""

    def __init__(self, folder: Path, kernel: str) -> None:
        self.is_source = kernel == "source"
        self.quiet = threading.Event()
        self.watcher = Watcher(folder.resolve(), self.quiet.set)

    def rest(self) -> None:
        """Until nothing is going on and nothing is marked."""
        assert self.quiet.wait(PATIENCE_S), "the watch never came up"
        self.watcher.take()
        self.quiet.clear()

    def edits(self) -> set[str]:
        """What was taken for an edit since; a source also asks for a look now and then, and when it is slow."""
        self.watcher.settle()
        return (self.watcher.take() or set()) - ({ANYTHING} if self.is_source else set())


@pytest.fixture
def watching(kernel: str, folder: Path) -> Iterator[Watching]:
    (folder / ".kglite").mkdir()
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".obsidian").mkdir()
    watching = Watching(folder, kernel)
    watching.rest()
    yield watching
    watching.watcher.stop()


def test_what_is_written_in_dot_folders_costs_nothing(folder: Path, watching: Watching) -> None:
    for number in range(100):
        (folder / ".git" / "objects" / f"{number}.md").write_text("x")
        (folder / ".obsidian" / f"workspace{number}.json").write_text("{}")
    (folder / ".hidden.md").write_text("x")
    (folder / ".git" / "more").mkdir()
    assert watching.edits() == set()
    (folder / "A.md").write_text("x")
    watching.watcher.settle()
    assert "A.md" in (watching.watcher.take() or ())


def test_writing_the_cache_is_never_an_edit(folder: Path, watching: Watching) -> None:
    with vaultgraph.open(folder) as vault:
        for number in range(3):
            (folder / "A.md").write_text(f"# {number}")
            watching.watcher.settle()
            assert watching.watcher.take()
            vault.refresh()
            vault.save()
            assert watching.edits() == set()
    assert watching.edits() == set()


def until_seen(vault: vaultgraph.Vault, expected: list[str]) -> None:
    until = time.monotonic() + PATIENCE_S
    while titles(vault) != expected:
        assert time.monotonic() < until, "the edit never showed"


def test_an_edit_without_an_event_is_found_by_a_look_at_the_folder(
    kernel: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Deaf:
        """Events of the vault are lost; those of our own calls are not."""

        def __init__(self, paths: list[str], *more: object) -> None:
            self._real = RustNotify(paths, *more)

        def __enter__(self) -> "Deaf":
            return self

        def __exit__(self, *error: object) -> None:
            self._real.close()

        def watch(self, *arguments: object) -> object:
            events = self._real.watch(*arguments)
            lost = str(folder.resolve())
            return {pair for pair in events if not pair[1].startswith(lost)} if isinstance(events, set) else events

    if kernel == "bell":
        import inotify_simple

        monkeypatch.setattr(inotify_simple.INotify, "read", lambda *_, **__: [])
    else:
        monkeypatch.setattr("watchfiles._rust_notify.RustNotify", Deaf)
    (folder / "A.md").write_text("# one")
    with vaultgraph.open(folder, cache=None, watch="auto") as vault:
        assert titles(vault) == ["one"]
        monkeypatch.setattr(watch, "HEAL_S", 0.2)
        monkeypatch.setattr(watch, "QUIET_S", 0.2)
        vault._watcher.stop()
        vault._watcher = vault._new_watcher()
        assert in_place(vault)
        assert titles(vault) == ["one"]
        (folder / "A.md").write_text("# two")
        until_seen(vault, ["two"])


def test_where_no_watch_can_be_had_every_call_looks_itself_and_it_is_said(
    kernel: str, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")  # what inotify says when max_user_watches is reached

    if kernel == "bell":
        import inotify_simple

        monkeypatch.setattr(inotify_simple.INotify, "add_watch", refused)
    else:
        monkeypatch.setattr("watchfiles._rust_notify.RustNotify", refused)
    (folder / "A.md").write_text("# one")
    with caplog.at_level(logging.WARNING), vaultgraph.open(folder, cache=None, watch="auto") as vault:
        for number in range(5):
            (folder / "A.md").write_text(f"# {number}")
            assert titles(vault) == [str(number)]
        until = time.monotonic() + PATIENCE_S
        while not caplog.messages and time.monotonic() < until:
            time.sleep(0.01)
    assert len(caplog.messages) == 1
    assert "No space left on device; until it goes on, each call looks itself" in caplog.messages[0]


def test_a_source_that_never_answers_is_not_believed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Mute:
        def __init__(self, *_: object) -> None: ...

        def __enter__(self) -> "Mute":
            return self

        def __exit__(self, *error: object) -> None: ...

        def watch(self, debounce_ms: int, step_ms: int, timeout_ms: int, stop: threading.Event) -> str:
            return "stop" if stop.wait(timeout_ms / 1000) else "timeout"

    without_bell(monkeypatch)
    monkeypatch.setattr("watchfiles._rust_notify.RustNotify", Mute)
    monkeypatch.setattr(watch, "SETTLE_S", 0.01)
    (folder / "A.md").write_text("# one")
    with vaultgraph.open(folder, cache=None, watch="auto") as vault:
        assert in_place(vault)
        for number in range(5):
            (folder / "A.md").write_text(f"# {number}")
            assert titles(vault) == [str(number)]


def test_a_source_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_bell(monkeypatch)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = set(tmp_path.iterdir())
    with vaultgraph.open(folder, cache=None, watch="auto") as vault:
        assert in_place(vault)
        vault.query(COUNT)
        assert len(set(tmp_path.iterdir()) - before) == 1
        assert list(folder.iterdir()) == []
    assert set(tmp_path.iterdir()) == before


def test_a_folder_of_calls_that_was_cleaned_up_is_made_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    without_bell(monkeypatch)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(watch, "HEAL_S", 0.2)
    (folder / "A.md").write_text("# one")
    with vaultgraph.open(folder, cache=None, watch="auto") as vault:
        assert in_place(vault)
        (old,) = tmp_path.glob(".vaultgraph-*")
        old.rmdir()
        (folder / "A.md").write_text("# two")
        assert titles(vault) == ["two"]
        until = time.monotonic() + PATIENCE_S
        while not list(tmp_path.glob(".vaultgraph-*")) and time.monotonic() < until:
            time.sleep(0.01)
        assert list(tmp_path.glob(".vaultgraph-*")) != [old]
        (folder / "A.md").write_text("# three")
        assert titles(vault) == ["three"]
