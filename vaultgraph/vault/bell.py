"""What the kernel knows was written: every event of the folder so far, without waiting for it to be handed over.

On Linux a write is in the queue of inotify before the writer's call returns, so a query that looks here sees every edit
made before it, in microseconds. `vault/watch` asks, and sleeps on it between edits. It follows no symlink, and listens
to no folder that a vault never contains. Other systems have no bell: `vault/watch` waits for watchfiles there.
"""

import ctypes
import os
import select
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from vaultgraph.files.walk import PRUNED_NAMES

# the values of <sys/inotify.h>, which are part of the kernel's interface
_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED_FROM, _MOVED_TO = 0x2, 0x4, 0x8, 0x40, 0x80
_CREATE, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x100, 0x200, 0x400, 0x800
_UNMOUNT, _OVERFLOW, _IGNORED, _ISDIR = 0x2000, 0x4000, 0x8000, 0x40000000
_ONLYDIR, _DONT_FOLLOW = 0x01000000, 0x02000000
_WRITTEN: Final = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_WATCHED: Final = _WRITTEN | _DELETE_SELF | _MOVE_SELF | _ONLYDIR | _DONT_FOLLOW
_LOST: Final = _OVERFLOW | _UNMOUNT  # folders may have come and gone without an event
ANYTHING: Final = ""  # among the paths heard: look at the whole folder
CONFIGURATION: Final = ".kglite"


class Bell:
    """The queue of events below one folder. `wake` may be called by any thread, all else by one at a time.

    `wait` may go on beside `heard`: it only sleeps until there is something to hear.
    """

    def __init__(self, folder: Path, queue: Any) -> None:  # an INotify, which has no types
        self._folder = str(folder)
        self._queue = queue
        self._places: dict[int, str] = {}  # watch descriptor → folder, relative, "" or ending in "/"
        self._watches: dict[str, int] = {}  # and back
        self._waker = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._poll = select.poll()
        self._poll.register(self._queue.fileno(), select.POLLIN)
        self._poll.register(self._waker, select.POLLIN)

    @classmethod
    def hang(cls, folder: Path) -> Self | None:
        """A bell for ``folder`` and all below it; None where the system has none.

        Raises:
            OSError: the system has none left, or the folder cannot be listened to.
        """
        if sys.platform != "linux":
            return None
        try:
            import inotify_simple  # noqa: PLC0415 -- there is one on Linux only
        except ImportError:
            return None  # an environment made for an older version: events are waited for

        # Where it looks for the C library itself it starts another program for that.
        inotify_simple.__dict__["_libc"] = ctypes.CDLL(None, use_errno=True)
        connect: Any = inotify_simple.INotify
        return cls.on(folder, connect(nonblocking=True))

    @classmethod
    def on(cls, folder: Path, queue: Any) -> Self:
        """A bell on a queue that was just made, which it closes in the end.

        Raises:
            OSError: as `hang`.
        """
        bell = cls(folder, queue)
        try:
            bell.listen_anew()
        except OSError:
            bell.close()
            raise
        return bell

    def heard(self) -> set[str]:
        """The paths written since the last call, relative to the folder; with ANYTHING among them any path may be.

        Raises:
            OSError: the queue is broken, or a new folder cannot be listened to; the bell is of no more use.
        """
        paths: set[str] = set()
        is_lost = False
        for event in self._queue.read(timeout=0):
            watch, mask, name = int(event.wd), int(event.mask), str(event.name)
            is_lost = is_lost or bool(mask & _LOST)
            paths.update(self._paths(watch, mask, name))
        if is_lost:
            self.listen_anew()
        return paths

    def wait(self, timeout_s: float) -> None:
        """Return when there is something to hear, when woken, or after ``timeout_s``."""
        if any(ready == self._waker for ready, _ in self._poll.poll(max(0, round(timeout_s * 1000)))):
            os.eventfd_read(self._waker)

    def wake(self) -> None:
        """End a `wait` that goes on, or the next one."""
        os.eventfd_write(self._waker, 1)

    def close(self) -> None:
        """Stop listening."""
        self._queue.close()
        if self._waker >= 0:
            os.close(self._waker)
            self._waker = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def listen_anew(self) -> None:
        """Listen to every folder that is there now, and to no other.

        Raises:
            OSError: no room for another folder, or the folder itself is gone.
        """
        before = self._places
        self._places, self._watches = {}, {}
        self._listen_below("")
        for watch in before.keys() - self._places.keys():
            self._remove(watch)
        if "" not in self._watches:
            raise FileNotFoundError(f"{self._folder} is gone or may not be read")

    def _paths(self, watch: int, mask: int, name: str) -> Iterator[str]:
        place = self._places.get(watch)
        if mask & _IGNORED:
            self._drop(watch)
            return
        if place is None or not name:  # of a folder that was let go of, or of a folder itself
            yield ANYTHING
            return
        path = place + name
        if mask & _ISDIR:
            yield from self._folder_paths(path, mask)
            return
        try:
            path.encode()
        except UnicodeEncodeError:
            path = ANYTHING  # a name that is not UTF-8 is no path of ours
        yield path

    def _folder_paths(self, path: str, mask: int) -> Iterator[str]:
        inside = f"{path}/"
        if not _counts(inside):
            return
        if mask & _MOVED_FROM:
            self._forget(inside)
        elif mask & (_CREATE | _MOVED_TO) or (mask & _ATTRIB and inside not in self._watches):
            self._listen_below(inside)  # with _ATTRIB: it may have become readable
        yield path
        if mask & (_CREATE | _MOVED_TO | _MOVED_FROM):
            yield ANYTHING  # what was written there before it was listened to

    def _forget(self, place: str) -> None:
        """Let go of a folder that was moved: what it is called now is found where it arrives."""
        for known, watch in list(self._watches.items()):
            if known.startswith(place):
                self._drop(watch)
                self._remove(watch)

    def _replace(self, watch: int, place: str) -> None:
        """Know a watch as that of ``place``, and of no other; another one of the place is let go of."""
        self._drop(watch)
        old = self._watches.get(place)
        if old is not None:
            self._drop(old)
            self._remove(old)
        self._places[watch] = place
        self._watches[place] = watch

    def _drop(self, watch: int) -> None:
        place = self._places.pop(watch, None)
        if place is not None and self._watches.get(place) == watch:
            del self._watches[place]

    def _remove(self, watch: int) -> None:
        try:
            self._queue.rm_watch(watch)
        except OSError:
            return  # it went away by itself

    def _listen_below(self, place: str) -> None:
        waiting = [place]
        # row loop: one step a folder
        while waiting:
            here = waiting.pop()
            if not _counts(here):
                continue
            full = f"{self._folder}/{here[:-1]}" if here else self._folder  # a slash at the end would follow a symlink
            try:
                watch = self._queue.add_watch(full, _WATCHED)
                self._replace(watch, here)
                with os.scandir(full) as entries:
                    waiting += [f"{here}{entry.name}/" for entry in entries if entry.is_dir(follow_symlinks=False)]
            except (FileNotFoundError, NotADirectoryError, PermissionError):
                continue


def _counts(place: str) -> bool:
    """Whether writes in a folder can matter: not below a dot folder, unless that is the configuration's."""
    parts = place.split("/")[:-1]
    if parts[:1] == [CONFIGURATION]:
        parts = parts[1:]
    return not any(part[0] == "." or part in PRUNED_NAMES or not _is_text(part) for part in parts)


def _is_text(name: str) -> bool:
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
