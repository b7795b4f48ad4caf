"""From a checked vault-relative path to an open folder handle and a name in it, without ever leaving the vault.

The middle of the sandbox: files/root checks the text of a path before, and opens the file after. Every component is
looked up by the handle of its folder, symlinks are followed here by hand, so a folder swapped for a link in between
changes nothing: the kernel is never asked to follow one.
"""

import errno
import os
import stat
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from vaultgraph.errors import FileError, PathEscapeError
from vaultgraph.frozen import frozen

FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
OPEN_DOT_FOLDER: Final = ".kglite"  # the one dot folder that may be read
_MOST_HOPS: Final = 40  # as the kernel
_MOST_PARTS: Final = 512  # folders held open at once


@frozen
class Found:
    """What a path leads to: ``path`` without symlinks, never one itself.

    ``folder`` is the handle of the folder ``name`` lies in; for a folder it is the handle of that folder itself and
    ``name`` is "". Both are valid inside the ``with`` block only.
    """

    path: str
    folder: int
    name: str
    status: os.stat_result

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self.status.st_mode)


class NothingThereError(Exception):
    """Inside files/ only: ``name`` is not in the folder ``folder``; ``rest`` was to be looked up in it."""

    def __init__(self, folder: str, name: str, rest: str) -> None:
        super().__init__(name)
        self.folder, self.name, self.rest = folder, name, rest


@contextmanager
def resolving(root: int, root_paths: tuple[str, ...], path: str) -> Generator[Found]:
    """Look ``path`` up below the folder handle ``root``.

    ``root_paths``: the absolute spellings of the root, so that an absolute link into the vault is understood.

    Raises:
        NothingThereError: a component does not exist.
        PathEscapeError: a symlink leads out of the vault or into a dot folder.
        FileError: symlinks in a circle, a folder that may not be entered, or the path changes while it is looked up.
    """
    trail = _Trail(root, root_paths, path)
    try:
        yield trail.follow()
    finally:
        trail.close()


class _Trail:
    """The folders open from the root down to where the look-up stands."""

    def __init__(self, root: int, root_paths: tuple[str, ...], path: str) -> None:
        self.asked = path
        self.root_paths = root_paths
        self.names: list[str] = []
        # "." is opened anew: a duplicated handle would share its read position with every other reader.
        self.handles: list[int] = [os.open(".", FOLDER_FLAGS, dir_fd=root)]
        self.pending: deque[str] = deque(path.split("/"))
        self.hops = 0

    def close(self) -> None:
        for handle in self.handles:
            os.close(handle)

    def follow(self) -> Found:
        while self.pending:
            name = self.pending.popleft()
            if name in ("", "."):
                continue
            if name == "..":  # in the target of a link only: files/root refuses it in a path
                self._leave()
                continue
            if name.startswith(".") and (self.names or name != OPEN_DOT_FOLDER):
                raise PathEscapeError(
                    f"{self.asked}: leads to `{name}`, and names that start with a dot are not served."
                )
            found = self._step(name)
            if found is not None:
                return found
        return Found("/".join(self.names), self.handles[-1], "", os.fstat(self.handles[-1]))

    def _leave(self) -> None:
        if not self.names:
            raise self._escape()
        self.names.pop()
        os.close(self.handles.pop())

    def _step(self, name: str) -> Found | None:
        """One component: a file ends the trail, a folder is entered, a link puts its target in front."""
        try:
            status = os.stat(name, dir_fd=self.handles[-1], follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                self._take_link(os.readlink(name, dir_fd=self.handles[-1]))
                return None
            if stat.S_ISDIR(status.st_mode):
                self._enter(name)
                return None
        except OSError as reason:
            self._explain(reason, name)
            return None
        rest = [part for part in self.pending if part not in ("", ".")]
        if rest:
            raise NothingThereError("/".join([*self.names, name]), rest[0], "/".join(rest[1:]))
        return Found("/".join([*self.names, name]), self.handles[-1], name, status)

    def _enter(self, name: str) -> None:
        if len(self.names) >= _MOST_PARTS:
            raise FileError(f"{self.asked}: lies more than {_MOST_PARTS} folders deep.")
        self.handles.append(os.open(name, FOLDER_FLAGS, dir_fd=self.handles[-1]))
        self.names.append(name)

    def _take_link(self, target: str) -> None:
        self._count_hop()
        if target.startswith("/"):
            inside = next((root for root in self.root_paths if target == root or target.startswith(f"{root}/")), None)
            if inside is None:
                raise self._escape()
            target = target[len(inside) :]
            while self.names:
                self._leave()
        self.pending.extendleft(reversed(target.split("/")))

    def _explain(self, reason: OSError, name: str) -> None:
        """Raise for a component that cannot be used, or put it back where it only changed under the look-up."""
        if reason.errno in (errno.ENOENT, errno.ENAMETOOLONG):
            raise NothingThereError("/".join(self.names), name, "/".join(self.pending)) from reason
        if reason.errno in (errno.ELOOP, errno.ENOTDIR, errno.EINVAL):
            self._count_hop()  # the entry was swapped between two calls: look again, but not forever
            self.pending.appendleft(name)
            return
        place = "/".join([*self.names, name])
        raise FileError(f"{place}: cannot be read ({reason.strerror}). Check its permissions.") from reason

    def _count_hop(self) -> None:
        self.hops += 1
        if self.hops > _MOST_HOPS:
            raise FileError(f"{self.asked}: its symlinks lead in a circle.")

    def _escape(self) -> PathEscapeError:
        return PathEscapeError(f"{self.asked}: a symlink on the way leads out of the vault; such links are refused.")
