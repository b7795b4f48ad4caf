"""One pass from the folder to a new state: stat, read what changed, parse it, rebuild the columns.

A first build, an open from the cache and the refresh after one edit are the same call with another starting state.
Nothing here is kept between calls; vault/vault owns the state and decides when to call.
"""

import hashlib
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.errors import BuildError, CorruptKglError
from vaultgraph.files.root import VaultRoot
from vaultgraph.files.stamps import Problem, Stamps, read_files, replaced_since, restat, scan, without_files
from vaultgraph.graph.built import Built
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.store import with_mtimes
from vaultgraph.graph.stored_bodies import late_fault
from vaultgraph.note.records import RecordTable, concat_records, content_hash, merge_records, without_paths
from vaultgraph.profile.settings import Profile, Reading
from vaultgraph.vault.configuration import read_profile
from vaultgraph.vault.guidance_files import Guided, read_guided

Progress = Callable[[str, int, int], None]  # phase, done, total

RACY_NS: Final = 2_000_000_000  # the coarsest clock of a common file system (FAT: two seconds)
_SAMPLE: Final = b"---\na: [b, 1]\n---\n# a\n[[b#c|d]] `e` [f](g.md) ![[h.png]] #i $j$ %%k%% ^l\n- [ ] m\n```\nn\n```\n"
_ATTEMPTS: Final = 3  # at a folder in which files are replaced while it is read


@dataclass(frozen=True, slots=True)
class State:
    """What a refresh starts from and ends with.

    ``stamps`` None: the records come from a cache. ``trusted``: STAMPS of notes whose content is beyond doubt what
    ``records`` says; every other note is read again.
    ``inputs_hash`` covers what the graph was built from beside the notes: configuration, file list, links on disk.
    ``reading``: the part of the configuration by which the records were read. ``configuration``: the text of the
    configuration files by path. ``unread`` are the problems of files that could not be read: each refresh tries those
    files again. ``guided``: skills and recipes, None when they were not looked at yet.
    """

    records: RecordTable
    stamps: Stamps | None
    trusted: pl.DataFrame
    built: Built
    inputs_hash: bytes
    reading: Reading
    configuration: Mapping[str, str]
    unread: tuple[Problem, ...] = ()
    guided: Guided | None = None

    def has_files_of(self, other: "State") -> bool:
        """Whether sizes and modification times are the same too, so that a snapshot of one is true of the other."""
        return self.stamps is not None and other.stamps is not None and self.stamps.files.equals(other.stamps.files)


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The new state, whether its graph differs from the old one, notes parsed, and milliseconds by phase.

    ``graph`` is the state's graph with this machine's modification times.
    """

    state: State
    graph: Graph
    profile: Profile
    guided: Guided
    changed: bool
    parsed: int
    phases_ms: dict[str, float]


def refresh(
    root: VaultRoot,
    old: State | None,
    touched: Collection[str],
    progress: Progress | None,
    *,
    only_touched: bool = False,
) -> Refreshed:
    """Bring ``old`` (None: nothing is known) up to what the folder holds now.

    ``touched`` are vault-relative paths known to have been written: they are read even where size and mtime are equal.
    ``only_touched``: nothing else was written, so that the folder need not be walked.

    Raises:
        ProfileError: the configuration is refused; the caller keeps the old state.
        BuildError: the folder cannot be listed.
    """
    clock = _Clock()
    profile, configuration, outside = read_profile(root)
    guided = read_guided(root, old.guided if old else None)
    if old and old.configuration != configuration:
        only_touched = False
    if old and old.reading != profile.reading:
        old = None  # what the notes state is read by other rules now
    known = old.records if old else None
    seen = None
    if only_touched and old and old.stamps and not outside and _same_guidance(old, guided):
        seen = restat(root, old.stamps, touched)
    source = _Source(root, profile, progress, [*outside, *guided.problems])
    stamps, files, (fresh, parsed, problems) = _taken_in(source, old, touched, seen, clock)
    inputs_hash = _inputs_hash(configuration, stamps)
    clock.lap("read")
    records, records_changed = _replace(known, fresh, files["path"])
    clock.lap("merge")
    if progress:
        progress("link", 0, 1)
    unread = tuple(problems)
    same = old is not None and not records_changed and old.unread == unread and old.inputs_hash == inputs_hash
    built = old.built if same and old else None
    if built is None and old and fresh and not (unread or old.unread) and old.configuration == configuration:
        built = _patch(old, records, fresh, stamps, profile)
    if built is None:
        built = _build(records, _with(stamps, problems), profile)
    clock.lap("build")
    graph = with_mtimes(built.graph, stamps)
    clock.lap("mtimes")
    trusted = _trusted(files, stamps.taken_ns, unread)
    state = State(records, stamps, trusted, built, inputs_hash, profile.reading, configuration, unread, guided)
    return Refreshed(state, graph, profile, guided, not same, parsed, clock.phases_ms)


def _taken_in(
    source: "_Source", old: State | None, touched: Collection[str], seen: Stamps | None, clock: "_Clock"
) -> tuple[Stamps, pl.DataFrame, tuple[RecordTable | None, int, list[Problem]]]:
    """The stat pass (``seen``, where it needs no walk), the files of it that are read, and what they say that is new.

    Both are done again where a file was replaced, or taken away for a moment, between them.
    """
    replaced: list[str] = []
    attempts = 0
    while True:
        stamps = seen or _with(scan(source.root, source.profile.skip_dirs), source.problems)
        if attempts == _ATTEMPTS:
            stamps = without_files(stamps, replaced)  # rather no note than what it said before
        clock.lap("stat")
        files = _read_by_build(stamps, source.profile)
        found = _read(source, _suspects(files, old, touched), old.records if old else None)
        replaced = replaced_since(source.root, stamps, [path for path, _, code, *_ in found[2] if code == "unreadable"])
        if attempts == _ATTEMPTS or not replaced:
            return stamps, files, found
        seen, attempts = None, attempts + 1


def _same_guidance(old: State, guided: Guided) -> bool:
    return old.guided is not None and old.guided.problems == guided.problems


def refresh_whatever_was_cached(
    root: VaultRoot, old: State | None, touched: Collection[str], progress: Progress | None, *, only_touched: bool
) -> tuple[Refreshed, str]:
    """`refresh`; from the notes alone where the cache that ``old`` came from turns out to be damaged, with what was
    wrong with it, else "".

    Raises:
        ProfileError, BuildError: as `refresh`; also a BuildError where the notes cannot be read for another reason.
    """
    fault = (old and late_fault(old.records)) or ""
    try:
        if not fault:
            try:
                return refresh(root, old, touched, progress, only_touched=only_touched), ""
            except CorruptKglError as error:
                fault = error.message
        return refresh(root, None, touched, progress), fault
    except (OSError, MemoryError, RecursionError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise BuildError(f"The vault could not be read: {type(error).__name__}: {error}") from error


def prepared(state: State, profile: Profile) -> State:
    """``state`` with the ground of its graph, which a start from the cache does without: the first edit is then taken
    in like every other."""
    if state.built.ground is not None or state.stamps is None or state.records.pieces.height:
        return state
    from vaultgraph.graph.build import ground_of  # noqa: PLC0415 -- as the builder
    from vaultgraph.note.read import read_notes  # noqa: PLC0415

    try:
        preload()
        read_notes(["a.md"], [_SAMPLE], state.reading)  # the first note a thread reads takes several times as long
        ground = ground_of(state.records, state.stamps, profile)
    except (MemoryError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return state  # the next edit builds anew, and says what is wrong
    return replace(state, built=replace(state.built, ground=ground))


def preload() -> None:
    """Import the reader and the builder, which a start from the cache does without: the first edit then waits less."""
    import_module("vaultgraph.graph.build")
    import_module("vaultgraph.graph.patch")
    import_module("vaultgraph.note.read")
    import_module("vaultgraph.vault.parsing")
    import_module("numpy.ma")  # which polars imports when it first takes a numpy array


def _build(records: RecordTable, stamps: Stamps, profile: Profile) -> Built:
    from vaultgraph.graph.build import build_graph  # noqa: PLC0415 -- a start from an unchanged cache builds nothing

    return build_graph(records, stamps, profile)


def _patch(old: State, records: RecordTable, fresh: RecordTable, stamps: Stamps, profile: Profile) -> Built | None:
    """The graph of ``old`` brought up to ``fresh``; None where more than text differs, or other files than notes."""
    paths, known = records.listing["path"], old.stamps
    if known is None or not paths.equals(old.records.listing["path"]) or not _same_places(known, stamps):
        return None
    is_resized = stamps.files["size_bytes"] != known.files["size_bytes"]
    written = fresh.listing["path"]
    if not stamps.files["path"].filter(is_resized).is_in(written.implode()).all():
        return None
    from vaultgraph.graph.patch import patched  # noqa: PLC0415 -- as the builder

    return patched(old.built, old.records, records, paths.search_sorted(written).to_numpy().astype(np.int64), profile)


def _same_places(old: Stamps, new: Stamps) -> bool:
    """Whether there are the same files, folders, symlinks and problems of files."""
    return (
        old.files["path"].equals(new.files["path"])
        and old.folders == new.folders
        and old.aliases.equals(new.aliases)
        and old.problems.equals(new.problems)
    )


def _inputs_hash(configuration: Mapping[str, str], stamps: Stamps) -> bytes:
    """16 bytes over everything a graph depends on beside the notes' own content; modification times are left out."""
    digest = hashlib.blake2b(digest_size=16)
    for path, text in configuration.items():
        digest.update(f"{path}\0{len(text)}\0{text}".encode())
    for column in (
        stamps.files["path"],
        stamps.files["size_bytes"].cast(pl.String),
        pl.Series(stamps.folders, dtype=pl.String),
        stamps.aliases["path"],
        stamps.aliases["target"],
        stamps.problems["path"],
        stamps.problems["line"].cast(pl.String).fill_null(""),
        stamps.problems["message"],
    ):
        digest.update(len(column).to_bytes(8, "little"))
        digest.update((column.str.join("\0").item() or "").encode())
    return digest.digest()


def _read_by_build(stamps: Stamps, profile: Profile) -> pl.DataFrame:
    """The stamps of files whose content is read: notes, and canvases where the profile says so."""
    path = pl.col("path").str
    is_read = path.contains(r"\.[mM][dD]\z")
    return stamps.files.filter(is_read | path.contains(r"\.[cC][aA][nN][vV][aA][sS]\z") if profile.canvas else is_read)


def _suspects(files: pl.DataFrame, old: State | None, touched: Collection[str]) -> pl.DataFrame:
    """The files to read: those without a trusted stamp, and those known to have been written."""
    if old is None:
        return files
    return pl.concat(
        [
            files.join(old.trusted, on=files.columns, how="anti", maintain_order="left"),
            files.filter(pl.col("path").is_in(list(touched))).join(old.trusted, on=files.columns, how="semi"),
        ]
    ).sort("path")


def _trusted(files: pl.DataFrame, taken_ns: int, unread: Collection[Problem]) -> pl.DataFrame:
    """The stamps that vouch for the content just read.

    Not those of a file written so shortly before the stat pass that another edit could have left the same times, and
    not those of files that could not be read.
    """
    latest = pl.max_horizontal("mtime_ns", "ctime_ns")
    failed = [path for path, *_ in unread]
    return files.filter((latest < taken_ns - RACY_NS) & ~pl.col("path").is_in(failed))


@dataclass(frozen=True, slots=True)
class _Source:
    """Where notes are read from, by which rules, who is told how far that is, and problems that are known already."""

    root: VaultRoot
    profile: Profile
    progress: Progress | None
    problems: list[Problem]


def _read(
    source: _Source, suspects: pl.DataFrame, known: RecordTable | None
) -> tuple[RecordTable | None, int, list[Problem]]:
    """Parse those of ``suspects`` whose content differs from ``known``, in batches bounded by bytes."""
    if not suspects.height:
        return None, 0, []
    listing = known.listing.filter(pl.col("path").is_in(suspects["path"].implode())) if known else None
    hashes = {} if listing is None else dict(zip(listing["path"], listing["hash"], strict=True))
    paths, sizes = suspects["path"].to_list(), suspects["size_bytes"].to_list()
    problems: list[Problem] = []
    from vaultgraph.vault.parsing import Parser, batches_of  # noqa: PLC0415 -- as the builder

    with Parser(source.profile.reading) as parser:
        cuts = batches_of(sizes)
        for first, stop in cuts:
            if source.progress:
                source.progress("read", first, len(paths))
            changed, unread, faults = _changed(source, paths[first:stop], sizes[first:stop], hashes)
            problems.extend(faults)
            if changed:
                parser.add(changed, unread, is_only=len(cuts) == 1)
        parts = parser.parts()
    return (concat_records(parts) if parts else None), sum(part.notes.height for part in parts), problems


def _changed(
    source: _Source, paths: list[str], sizes: list[int], hashes: Mapping[str, bytes]
) -> tuple[list[tuple[str, bytes]], list[str], list[Problem]]:
    """Path and bytes of the files whose content is not that of ``hashes``; those of them that could not be read."""
    contents, problems = read_files(source.root, paths, sizes)
    changed: list[tuple[str, bytes]] = []
    unread: list[str] = []
    for path, data in zip(paths, contents, strict=True):
        if data is not None and (not hashes or hashes.get(path) != content_hash(data)):
            changed.append((path, data))
        elif data is None and path not in hashes:
            unread.append(path)  # a note all the same; one that was read before keeps its record
            changed.append((path, b""))
    return changed, unread, problems


def _replace(known: RecordTable | None, fresh: RecordTable | None, present: pl.Series) -> tuple[RecordTable, bool]:
    """The records of the notes that are ``present``, with the ``fresh`` ones in place; and whether anything changed."""
    records = known or concat_records([])
    paths = records.listing["path"]
    gone = paths.clear() if paths.equals(present) else paths.filter(~paths.is_in(present.implode()))
    if len(gone):
        records = without_paths(records, gone.to_list())
    if fresh is not None:
        records = merge_records(records, fresh) if records.listing.height else fresh
    return records, known is None or bool(len(gone)) or fresh is not None


def _with(stamps: Stamps, problems: list[Problem]) -> Stamps:
    """The stamps with the problems of reading added to those of the stat pass."""
    if not problems:
        return stamps
    rows = pl.DataFrame(problems, schema=stamps.problems.schema, orient="row")
    return replace(stamps, problems=pl.concat([stamps.problems, rows]).unique(maintain_order=True))


class _Clock:
    """Milliseconds between laps, by name."""

    __slots__ = ("_last", "phases_ms")

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self.phases_ms: dict[str, float] = {}

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.phases_ms[name] = round((now - self._last) * 1000, 2)
        self._last = now
