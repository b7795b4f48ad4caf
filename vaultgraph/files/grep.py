"""Searching the text files of a vault line by line: `path:line:text` with context and honest counts.

Reads the files as they are on disk now; the graph is not needed. Patterns are checked and run by files/text, in linear
time. It never opens dot folders, symlinks, files over 5 MB or binary ones, and names what it left out.
"""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.exceptions import ComputeError

from vaultgraph.errors import FileError, ParameterError
from vaultgraph.files.globs import matching
from vaultgraph.files.kinds import HEAD_BYTES, is_text, mime_of
from vaultgraph.files.root import FILE_FLAGS, VaultRoot, check_listed, is_placeholder, read_whole
from vaultgraph.files.stamps import is_note
from vaultgraph.files.text import Pattern, compile_pattern, cut_around, lines_around, lines_of, match_start
from vaultgraph.files.walk import folders_of, skip_rule, walk
from vaultgraph.frozen import frozen

MOST_FILE_BYTES: Final = 5_000_000
MOST_LINES: Final = 20_000  # lines shown where the caller names no limit
MOST_CONTEXT: Final = 50
MOST_LINE_CHARS: Final = 200
_BATCH_BYTES: Final = 1 << 24  # read and matched between two calls of `check`


@frozen
class GrepLine:
    """``line`` is 1-based; ``text`` at most about 200 characters, cut around the match; context has no match."""

    path: str
    line: int
    text: str
    is_match: bool


@frozen
class GrepResult:
    """What was found.

    ``lines``: sorted by path (as searched) and line, matches and their context, each line once. ``shown``: matching
    lines in it; ``total``: matching lines there are. ``not_utf8``: files searched with their odd bytes replaced;
    ``skipped``: (path, reason) of files not searched.
    """

    lines: tuple[GrepLine, ...]
    shown: int
    total: int
    files_with_matches: int
    files_searched: int
    not_utf8: list[str]
    skipped: list[tuple[str, str]]


def grep(
    root: VaultRoot,
    pattern: str,
    *,
    glob: str | None = None,
    context: int = 0,
    most_results: int | None = 50,
    ignore_case: bool = False,
    files: Sequence[str] | None = None,
    check: Callable[[], None] = lambda: None,
) -> GrepResult:
    """Search the files that match ``glob`` for lines that match ``pattern``.

    ``files``: the paths to search (as stamps.scan spells them; fastest in path order), or None for all files of the
    vault. ``most_results``: matching lines shown, None for as many as there are; never over 20,000. The counts go on.
    ``context``: lines before and after, at most 50. ``check`` is called between batches and may raise.

    Raises:
        ParameterError: the pattern, the glob, or a number that makes no sense.
        FileError: the vault folder cannot be read.
    """
    compiled = compile_pattern(pattern, ignore_case=ignore_case)
    if context < 0 or (most_results is not None and most_results < 0):
        name = "context" if context < 0 else "max_results"
        raise ParameterError(f"{name}: must be 0 or more.", {"name": name, "reason": "negative"})
    paths = _all_files(root) if files is None else list(files)
    chosen = [path for path, is_chosen in zip(paths, matching(paths, glob), strict=True) if is_chosen]
    most = MOST_LINES if most_results is None else min(most_results, MOST_LINES)
    search = _Search(compiled, min(context, MOST_CONTEXT), most)
    for names, contents in _batches(root, chosen, search):
        check()
        search.add(names, contents)
    return search.result()


def _all_files(root: VaultRoot) -> list[str]:
    try:
        found = [
            f"{folder.prefix}{entry.name}" for folder in walk(root.handle, skip_rule(())) for entry in folder.files
        ]
    except OSError as reason:
        raise FileError(f"{root.path}: the vault folder cannot be read ({reason.strerror}).") from reason
    return sorted(found)


def _batches(root: VaultRoot, paths: Sequence[str], search: "_Search") -> Iterator[tuple[list[str], list[bytes]]]:
    """Paths and contents with plain line ends, some megabytes at a time."""
    names: list[str] = []
    contents: list[bytes] = []
    size_bytes = 0
    last_folder = ""
    with folders_of(root.handle) as folders:
        for path in paths:
            folder, _, name = path.rpartition("/")
            if folder != last_folder or not name or name[0] == "." or "\0" in name:
                check_listed(path)
                last_folder = folder
            try:
                data = _read_text_file(folders.handle(folder), name, root.counts_blocks)
            except OSError as reason:
                data = f"cannot be read ({reason.strerror})"
            if isinstance(data, str):
                search.skipped.append((path, data))
                continue
            names.append(path)
            contents.append(data)
            size_bytes += len(data)
            if size_bytes >= _BATCH_BYTES:
                yield names, contents
                names, contents, size_bytes = [], [], 0
    yield names, contents


def _read_text_file(folder: int, name: str, counts_blocks: bool) -> bytes | str:
    """The content with plain line ends and without BOM, or the reason why the file is not searched."""
    handle = os.open(name, FILE_FLAGS, dir_fd=folder)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return "no regular file"
        if not is_note(name) and not is_text(mime_of(os.pread(handle, HEAD_BYTES, 0))):
            return "binary"
        if status.st_size > MOST_FILE_BYTES:
            return f"over {MOST_FILE_BYTES // 1_000_000} MB"
        if is_placeholder(status, counts_blocks):
            return "its content is in the cloud only"
        data = read_whole(handle, status.st_size, MOST_FILE_BYTES)
    finally:
        os.close(handle)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data.removeprefix(b"\xef\xbb\xbf")


class _Search:
    """Counts, and the lines to show until there are enough."""

    def __init__(self, pattern: Pattern, context: int, most: int) -> None:
        self.pattern, self.context, self.most = pattern, context, most
        self.lines: list[GrepLine] = []
        self.shown = self.total = self.files_with_matches = self.files_searched = 0
        self.not_utf8: list[str] = []
        self.skipped: list[tuple[str, str]] = []

    def result(self) -> GrepResult:
        return GrepResult(
            tuple(self.lines),
            self.shown,
            self.total,
            self.files_with_matches,
            self.files_searched,
            self.not_utf8,
            self.skipped,
        )

    def add(self, paths: list[str], contents: list[bytes]) -> None:
        """Search one batch: whole texts first, lines only of those that can match."""
        self.files_searched += len(paths)
        try:
            texts = pl.Series("text", contents, dtype=pl.Binary).cast(pl.String)
        except ComputeError:  # some file is not UTF-8: find out which
            texts = pl.Series("text", self._repaired(paths, contents), dtype=pl.String)
        may_match = texts != ""  # an empty text has no line, not even an empty one
        if self.pattern.whole is not None:
            may_match &= texts.str.contains(self.pattern.whole)
        candidates = np.flatnonzero(may_match.to_numpy())
        if len(candidates):
            self._add_candidates(paths, texts.gather(candidates), candidates)

    def _repaired(self, paths: list[str], contents: list[bytes]) -> list[str]:
        texts: list[str] = []
        for path, data in zip(paths, contents, strict=True):
            try:
                texts.append(data.decode())
            except UnicodeDecodeError:
                self.not_utf8.append(path)
                texts.append(data.decode("utf-8", "replace"))
        return texts

    def _add_candidates(self, paths: list[str], texts: pl.Series, candidates: npt.NDArray[np.int64]) -> None:
        # The last line end starts no line, so it goes before the split.
        lines = texts.str.strip_suffix("\n").str.split("\n")
        counts = lines.list.len().to_numpy().astype(np.int64)
        flags = lines.explode().str.contains(self.pattern.line).to_numpy()
        starts = np.concatenate([[0], np.cumsum(counts)])
        before = np.concatenate([[0], np.cumsum(flags)])
        hits = before[starts[1:]] - before[starts[:-1]]
        self.total += int(hits.sum())
        self.files_with_matches += int((hits > 0).sum())
        for index in np.flatnonzero(hits).tolist():
            if self.shown >= self.most:
                break
            numbers = np.flatnonzero(flags[starts[index] : starts[index + 1]])[: self.most - self.shown]
            self._show(paths[int(candidates[index])], lines_of(texts[index]), numbers)

    def _show(self, path: str, lines: list[str], numbers: npt.NDArray[np.int64]) -> None:
        """Add the lines at the 0-based ``numbers`` and their context."""
        self.shown += len(numbers)
        matches = set(numbers.tolist())
        shown = lines_around(numbers, self.context, len(lines))
        long = [number for number in shown if number in matches and len(lines[number]) > MOST_LINE_CHARS]
        starts = dict(zip(long, match_start([lines[number] for number in long], self.pattern), strict=True))
        for number in shown:
            text = cut_around(lines[number], starts.get(number, 0), MOST_LINE_CHARS)
            self.lines.append(GrepLine(path, number + 1, text, number in matches))
