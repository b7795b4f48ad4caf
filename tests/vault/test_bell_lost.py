"""The bell when the kernel gives up: the queue overflows, watches run out, folders come and go without an event."""

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vaultgraph.vault.bell import ANYTHING, Bell

inotify_simple = pytest.importorskip("inotify_simple", reason="only Linux has inotify")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has inotify")

OVERFLOW = inotify_simple.Event(-1, inotify_simple.flags.Q_OVERFLOW, 0, "")


class Forgetful(inotify_simple.INotify):
    """A kernel whose queue can overflow at will: what was in it is lost, as with max_queued_events."""

    def overflow(self) -> None:
        super().read(timeout=0)
        self.overflown = True

    def read(self, *args: Any, **more: Any) -> list[Any]:
        lost, self.overflown = getattr(self, "overflown", False), False
        return [*super().read(*args, **more), *([OVERFLOW] if lost else [])]


class Meagre(inotify_simple.INotify):
    """A kernel with few watches left, as with max_user_watches."""

    left = 3

    def add_watch(self, path: Any, mask: int) -> int:
        if self.left == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.left -= 1
        return super().add_watch(path, mask)


class Strict(inotify_simple.INotify):
    """A kernel that lets nobody into one folder, though the tests may be run by root."""

    closed: str | None = "closed"

    def add_watch(self, path: Any, mask: int) -> int:
        if self.closed and str(path).endswith(self.closed):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return super().add_watch(path, mask)


@pytest.fixture
def queue():
    with Forgetful(nonblocking=True) as queue:
        yield queue


@pytest.fixture
def bell(folder: Path, queue: Forgetful):
    (folder / "sub").mkdir()
    with Bell.on(folder.resolve(), queue) as bell:
        yield bell


def descriptors() -> set[Path]:
    return set(Path("/proc/self/fd").iterdir())


def watches(queue: Any) -> int:
    return Path(f"/proc/self/fdinfo/{queue.fileno()}").read_text().count("inotify wd")


def test_after_an_overflow_folders_made_meanwhile_are_listened_to(folder: Path, bell: Bell, queue: Forgetful) -> None:
    (folder / "new" / "er").mkdir(parents=True)
    queue.overflow()
    assert ANYTHING in bell.heard()
    (folder / "new" / "er" / "A.md").write_text("a")
    assert bell.heard() == {"new/er/A.md"}


def test_when_the_queue_of_the_kernel_overflows_anything_may_have_been_written(folder: Path) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if most > 100_000:
        pytest.skip("the queue of this kernel takes too long to fill")
    notes = [folder / "A.md", folder / "B.md"]
    for note in notes:
        note.write_text("a")
    bell = Bell.hang(folder.resolve())
    assert bell is not None
    with bell:
        for number in range(most + 10):
            os.utime(notes[number % 2])  # equal events in a row would be one
        (folder / "new").mkdir()
        (folder / "new" / "C.md").write_text("c")
        assert ANYTHING in bell.heard()
        assert bell.heard() == set()
        (folder / "new" / "C.md").write_text("cc")
        assert bell.heard() == {"new/C.md"}


def test_after_an_overflow_folders_that_moved_have_their_new_names(folder: Path, bell: Bell, queue: Forgetful) -> None:
    (folder / "sub").rename(folder / "away")
    (folder / "sub").mkdir()
    queue.overflow()
    assert ANYTHING in bell.heard()
    (folder / "away" / "A.md").write_text("a")
    (folder / "sub" / "B.md").write_text("b")
    assert bell.heard() == {"away/A.md", "sub/B.md"}
    assert watches(queue) == 3


def test_after_an_overflow_folders_that_left_are_let_go_of(
    folder: Path, bell: Bell, queue: Forgetful, tmp_path: Path
) -> None:
    (folder / "sub").rename(tmp_path / "outside")
    queue.overflow()
    bell.heard()
    (tmp_path / "outside" / "A.md").write_text("a")
    assert bell.heard() == set()
    assert watches(queue) == 1


def test_a_folder_that_was_moved_out_is_let_go_of(folder: Path, bell: Bell, queue: Forgetful, tmp_path: Path) -> None:
    (folder / "sub").rename(tmp_path / "outside")
    assert ANYTHING in bell.heard()
    (tmp_path / "outside" / "A.md").write_text("a")
    assert bell.heard() == set()
    assert watches(queue) == 1


def test_folders_that_change_places_are_told_apart(folder: Path, bell: Bell, queue: Forgetful) -> None:
    (folder / "other" / "in").mkdir(parents=True)
    bell.heard()
    (folder / "sub").rename(folder / "third")
    (folder / "other").rename(folder / "sub")
    (folder / "third").rename(folder / "other")
    assert ANYTHING in bell.heard()
    (folder / "sub" / "in" / "A.md").write_text("a")
    (folder / "other" / "B.md").write_text("b")
    assert bell.heard() == {"sub/in/A.md", "other/B.md"}
    assert watches(queue) == 4


def test_too_few_watches_are_an_error_that_leaves_nothing_open(folder: Path) -> None:
    for number in range(5):
        (folder / f"{number}").mkdir()
    before = descriptors()
    with pytest.raises(OSError, match="No space left"):
        Bell.on(folder.resolve(), Meagre(nonblocking=True))
    assert descriptors() == before


def test_no_watch_left_for_a_new_folder_is_an_error(folder: Path) -> None:
    with Bell.on(folder.resolve(), Meagre(nonblocking=True)) as bell:
        for number in range(5):
            (folder / f"{number}").mkdir()
        with pytest.raises(OSError, match="No space left"):
            bell.heard()


def test_a_folder_that_is_gone_cannot_be_listened_to(folder: Path) -> None:
    before = descriptors()
    with pytest.raises(FileNotFoundError):
        Bell.hang(folder.resolve() / "nothing")
    assert descriptors() == before


@pytest.mark.parametrize("name", ["node_modules", "__pycache__", ".git", ".trash"])
def test_folders_a_vault_never_contains_make_no_sound(folder: Path, bell: Bell, queue: Forgetful, name: str) -> None:
    (folder / name / "deep").mkdir(parents=True)
    (folder / name / "deep" / "A.md").write_text("a")
    (folder / name).rename(folder / "sub" / name)
    (folder / "sub" / name / "B.md").write_text("b")
    assert bell.heard() == set()
    assert watches(queue) == 2


def test_symlinks_are_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "outside" / "deep").mkdir(parents=True)
    (folder / "there").symlink_to(tmp_path / "outside")
    with Forgetful(nonblocking=True) as queue, Bell.on(folder.resolve(), queue) as bell:
        (folder / "new").mkdir()
        (folder / "new").rmdir()
        (folder / "new").symlink_to(tmp_path / "outside")  # before the folder that was made is listened to
        bell.heard()
        (tmp_path / "outside" / "deep" / "A.md").write_text("a")
        (tmp_path / "outside" / "B.md").write_text("b")
        assert bell.heard() == set()
        assert watches(queue) == 1


def test_a_folder_that_becomes_readable_is_listened_to(folder: Path) -> None:
    (folder / "closed").mkdir()
    queue = Strict(nonblocking=True)
    with Bell.on(folder.resolve(), queue) as bell:
        queue.closed = None
        (folder / "closed").chmod(0o750)
        assert bell.heard() == {"closed"}
        (folder / "closed" / "A.md").write_text("a")
        assert bell.heard() == {"closed/A.md"}


SAVES: dict[str, Callable[[Path], None]] = {}


def save(name: str) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    def keep(way: Callable[[Path], None]) -> Callable[[Path], None]:
        SAVES[name] = way
        return way

    return keep


@save("in place")
def _(note: Path) -> None:
    note.write_text("new")


@save("temporary file and rename, as Obsidian's sync and rsync do")
def _(note: Path) -> None:
    other = note.with_name(f".{note.name}.Xy12")
    other.write_text("new")
    other.replace(note)


@save("backup and new file, as vim does")
def _(note: Path) -> None:
    note.rename(note.with_name(f"{note.name}~"))
    note.write_text("new")
    note.with_name(f"{note.name}~").unlink()


@save("from a folder beside the vault, as some sync clients do")
def _(note: Path) -> None:
    other = note.parents[2] / "download"
    other.write_text("new")
    other.replace(note)


@save("hard link and unlink, as git does")
def _(note: Path) -> None:
    other = note.with_name("tmp_obj")
    other.write_text("new")
    note.unlink()
    note.hardlink_to(other)
    other.unlink()


@save("truncate and write by descriptor")
def _(note: Path) -> None:
    handle = os.open(note, os.O_WRONLY | os.O_TRUNC)
    os.write(handle, b"new")
    os.close(handle)


@pytest.mark.parametrize("way", SAVES.values(), ids=list(SAVES))
def test_every_way_to_save_a_note_is_heard(folder: Path, bell: Bell, way: Callable[[Path], None]) -> None:
    note = folder / "sub" / "A.md"
    note.write_text("old")
    bell.heard()
    way(note)
    assert "sub/A.md" in bell.heard()
