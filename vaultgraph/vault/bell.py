"""What the kernel knows was written: every event of the folder so far, without waiting for it to be handed over.

On Linux a write is in the queue of inotify before the writer's call returns, so a query that looks here sees every edit
made before it, in microseconds. `vault/watch` asks; it follows events by watchfiles everywhere, and waits for them
where there is no bell.
"""

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Self

# the values of <sys/inotify.h>, which are part of the kernel's interface
_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED_FROM, _MOVED_TO = 0x2, 0x4, 0x8, 0x40, 0x80
_CREATE, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x100, 0x200, 0x400, 0x800
_UNMOUNT, _OVERFLOW, _IGNORED, _ISDIR = 0x2000, 0x4000, 0x8000, 0x40000000
_ONLYDIR, _DONT_FOLLOW = 0x01000000, 0x02000000
_WRITTEN: Final = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_WATCHED: Final = _WRITTEN | _DELETE_SELF | _MOVE_SELF | _ONLYDIR | _DONT_FOLLOW
_UNSURE: Final = _OVERFLOW | _UNMOUNT | _DELETE_SELF | _MOVE_SELF
ANYTHING: Final = ""  # among the paths heard: look at the whole folder
CONFIGURATION: Final = ".kglite"


class Bell:
    """The queue of events below one folder; dot folders other than `.kglite` are not listened to."""

    def __init__(self, folder: Path, queue: Any) -> None:  # an INotify, which has no types
        self._folder = folder
        self._queue = queue
        self._places: dict[int, str] = {}  # watch descriptor → folder, relative, "" or ending in "/"
        self._lock = threading.Lock()

    @classmethod
    def hang(cls, folder: Path) -> Self | None:
        """A bell for ``folder`` and all below it; None where the system has none, or none left."""
        if sys.platform != "linux":
            return None
        try:
            import inotify_simple  # noqa: PLC0415 -- there is one on Linux only
        except ImportError:
            return None  # an environment made for an older version: events are waited for

        connect: Any = inotify_simple.INotify

        try:
            bell = cls(folder, connect(nonblocking=True))
        except OSError:
            return None
        try:
            bell._listen_below("")
        except OSError:
            bell.close()
            return None
        return bell

    def heard(self) -> set[str]:
        """The paths written since the last call, relative to the folder; with ANYTHING among them any path may be.

        Raises:
            OSError: the queue is broken, or a new folder cannot be listened to; the bell is of no more use.
        """
        with self._lock:
            return {path for event in self._events() for path in self._paths(*event)}

    def close(self) -> None:
        """Stop listening."""
        self._queue.close()

    def _events(self) -> Iterator[tuple[int, int, str]]:
        for event in self._queue.read(timeout=0):
            yield int(event.wd), int(event.mask), str(event.name)

    def _paths(self, watch: int, mask: int, name: str) -> Iterator[str]:
        place = self._places.get(watch)
        if mask & _IGNORED:
            self._places.pop(watch, None)
            return
        if mask & _UNSURE or place is None:
            yield ANYTHING
            return
        path = place + name
        try:
            path.encode()
        except UnicodeEncodeError:
            path = ANYTHING  # a name that is not UTF-8 is no path of ours
        yield path
        if mask & _ISDIR and mask & (_CREATE | _MOVED_TO | _MOVED_FROM):
            if mask & _MOVED_FROM:
                self._forget(place + name + "/")
            else:
                self._listen_below(place + name + "/")
            yield ANYTHING  # what was written there before it was listened to

    def _forget(self, place: str) -> None:
        """Let go of a folder that was moved: what it is called now is found where it arrives."""
        for watch, known in list(self._places.items()):
            if known.startswith(place):
                del self._places[watch]
                try:
                    self._queue.rm_watch(watch)
                except OSError:
                    continue  # it went away by itself

    def _listen_below(self, place: str) -> None:
        waiting = [place]
        # row loop: one step a folder
        while waiting:
            here = waiting.pop()
            if not _counts(here):
                continue
            try:
                watch = self._queue.add_watch(os.path.join(self._folder, here), _WATCHED)  # noqa: PTH118 -- hot
                with os.scandir(os.path.join(self._folder, here)) as entries:  # noqa: PTH118 -- as above
                    below = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
            except (FileNotFoundError, NotADirectoryError, PermissionError):
                continue
            self._places[watch] = here
            waiting += [f"{here}{name}/" for name in below]


def _counts(place: str) -> bool:
    """Whether writes in a folder can matter: not below a dot folder, unless that is the configuration's."""
    parts = place.split("/")[:-1]
    return not any(part.startswith(".") for part in (parts[1:] if parts[:1] == [CONFIGURATION] else parts))
