"""One pass from the folder to a new state: stat, read what changed, parse it, rebuild the columns.

A first build, an open from the cache and the refresh after one edit are the same call with another starting state.
Nothing here is kept between calls; vault/vault owns the state and decides when to call.
"""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Final

import numpy as np
import polars as pl

from vaultgraph.errors import BuildError, CorruptKglError
from vaultgraph.files.root import VaultRoot
from vaultgraph.files.stamps import (
    STAMPS,
    Problem,
    Stamps,
    is_canvas,
    is_note,
    places_of,
    read_files,
    replaced_since,
    restat,
    scan,
    without_files,
)
from vaultgraph.frozen import frozen
from vaultgraph.graph.built import Built
from vaultgraph.graph.graph import Graph
from vaultgraph.graph.store import MTIME, with_mtimes
from vaultgraph.graph.stored_records import late_fault, settle
from vaultgraph.note.records import NOTES, RecordTable, concat_records, merge_records, without_paths
from vaultgraph.profile.settings import Profile
from vaultgraph.vault.configuration import read_profile
from vaultgraph.vault.footprint import give_back
from vaultgraph.vault.guidance_files import Guided, read_guided
from vaultgraph.vault.state import State, inputs_hash_of, with_problems

Progress = Callable[[str, int, int], None]  # phase, done, total

RACY_NS: Final = 2_000_000_000  # the coarsest clock of a common file system (FAT: two seconds)
_SAMPLE: Final = b"---\na: [b, 1]\n---\n# a\n[[b#c|d]] `e` [f](g.md) ![[h.png]] #i $j$ %%k%% ^l\n- [ ] m\n```\nn\n```\n"
_ATTEMPTS: Final = 3  # at a folder in which files are replaced while it is read


@frozen
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
    profile, configuration, outside = read_profile(root, (old.configuration, old.profile) if old else None)
    guided = read_guided(root, old.guided if old else None)
    if old and old.configuration != configuration:
        only_touched = False
    if old and (old.profile.reading, old.profile.canvas) != (profile.reading, profile.canvas):
        old = None  # what the notes state is read by other rules now, or canvases are read that never were
    seen = None
    if only_touched and old and old.stamps and not outside and _same_guidance(old, guided):
        seen = restat(root, old.stamps, touched)
    source = _Source(root, profile, progress, [*outside, *guided.problems])
    taken = _taken_in(source, old, touched, seen, clock)
    clock.lap("read")
    records, records_changed = _replace(old.records if old else None, taken)
    clock.lap("merge")
    if progress:
        progress("link", 0, 1)
    unread = tuple(taken.problems)
    same = old is not None and not records_changed and _has_same_inputs(old, configuration, taken)
    built = old.built if same and old else None
    if built is None and old and taken.fresh and not (unread or old.unread) and old.configuration == configuration:
        built = _patch(old, records, taken, profile)
    if built is None:
        built = _build(records, with_problems(taken.stamps, taken.problems), profile)
    clock.lap("build")
    graph = _with_mtimes(old, built, taken)
    clock.lap("mtimes")
    mtimes = graph.node_columns.get(MTIME)
    state = State(records, taken.stamps, built, profile, configuration, None, taken.doubtful, mtimes, unread, guided)
    return Refreshed(state, graph, profile, guided, not same, taken.parsed, clock.phases_ms)


@frozen
class _Taken:
    """What a pass over the folder found: the ``present`` notes and other files that are read (None: the same as
    before), what they say that is new, how many were parsed, problems of reading, and State.doubtful."""

    stamps: Stamps
    present: pl.Series | None
    fresh: RecordTable | None
    parsed: int
    problems: list[Problem]
    doubtful: frozenset[str]


def _taken_in(
    source: "_Source", old: State | None, touched: Collection[str], seen: Stamps | None, clock: "_Clock"
) -> _Taken:
    """The stat pass (``seen``, where it needs no walk), and what the files say that are read.

    Both are done again where a file was replaced, or taken away for a moment, between them.
    """
    replaced: list[str] = []
    attempts = 0
    while True:
        stamps = seen or with_problems(scan(source.root, source.profile.skip_dirs), source.problems)
        if attempts == _ATTEMPTS:
            stamps = without_files(stamps, replaced)  # rather no note than what it said before
        clock.lap("stat")
        if seen and old:
            present, suspects = None, _few_suspects(stamps, old, touched, source.profile)
        else:
            files = _read_by_build(stamps, source.profile)
            present, suspects = files["path"], _suspects(files, old, touched)
        fresh, parsed, problems = _read(source, suspects, old.records if old else None)
        replaced = replaced_since(source.root, stamps, [path for path, _, code, *_ in problems if code == "unreadable"])
        if attempts == _ATTEMPTS or not replaced:
            return _Taken(stamps, present, fresh, parsed, problems, _doubtful(suspects, stamps.taken_ns, problems))
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


def prepared(state: State) -> State:
    """``state`` with the ground of its graph, which a start from the cache does without: the first edit is then taken
    in like every other."""
    ground = state.built.ground
    if state.stamps is None or (ground and ground.is_in_order) or state.records.pieces.height:
        return state
    from vaultgraph.note.read import read_notes  # noqa: PLC0415 -- as the builder

    try:
        preload()
        # The first note a thread reads takes several times as long.
        read_notes(["a.md"], [_SAMPLE], state.profile.reading)
        ready = replace(state, built=_grounded(state, state.stamps))
    except (CorruptKglError, MemoryError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return state  # the next edit builds anew, and says what is wrong
    give_back()  # what only starting and this needed
    return ready


def _grounded(state: State, stamps: Stamps) -> Built:
    """The graph with its ground, all of which but the bodies is read from the cache now."""
    from vaultgraph.graph.build import ground_of  # noqa: PLC0415 -- as the builder

    settle(state.records)
    ground = state.built.ground or ground_of(state.records, stamps, state.profile)
    return replace(state.built, ground=ground.in_order())


def preload() -> None:
    """Import the reader and the builder, which a start from the cache does without: the first edit then waits less."""
    for name in ("graph.build", "graph.patch", "note.read", "vault.parsing"):
        import_module(f"vaultgraph.{name}")
    import_module("numpy.ma")  # which polars imports when it first takes a numpy array


def _build(records: RecordTable, stamps: Stamps, profile: Profile) -> Built:
    from vaultgraph.graph.build import build_graph  # noqa: PLC0415 -- a start from an unchanged cache builds nothing

    return build_graph(records, stamps, profile)


def _patch(old: State, records: RecordTable, taken: _Taken, profile: Profile) -> Built | None:
    """The graph of ``old`` brought up to ``taken``; None where more than text differs, or other files than notes."""
    if taken.fresh is None or old.stamps is None or not _has_same_places(old, taken):
        return None
    files, written = taken.stamps.files, taken.fresh.listing["path"]
    resized = files["path"].filter(files["size_bytes"] != old.stamps.files["size_bytes"])
    if not {*resized.to_list()} <= {*written.to_list()}:
        return None
    from vaultgraph.graph.patch import MOST_NOTES, patched  # noqa: PLC0415 -- as the builder

    if old.records.pieces.height or len(written) > MOST_NOTES:
        return None
    notes = np.array(places_of(records.listing["path"], written.to_list()), dtype=np.int64)
    return patched(_grounded(old, old.stamps), old.records, records, notes, profile)


def _has_same_inputs(old: State, configuration: Mapping[str, str], taken: _Taken) -> bool:
    """Whether all that a graph depends on beside the notes' own content is as it was."""
    if old.stamps is None:
        return old.inputs_hash == inputs_hash_of(configuration, with_problems(taken.stamps, taken.problems))
    if old.configuration != configuration or old.unread != tuple(taken.problems):
        return False
    is_resized = not old.stamps.files["size_bytes"].equals(taken.stamps.files["size_bytes"])
    return not is_resized and _has_same_places(old, taken)


def _has_same_places(old: State, taken: _Taken) -> bool:
    """Whether there are the same notes, files, folders, symlinks and problems of files."""
    was, now = old.stamps, taken.stamps
    if taken.present is None or was is None:
        return was is not None  # nobody had to walk
    return (
        taken.present.equals(old.records.listing["path"])
        and was.files["path"].equals(now.files["path"])
        and was.folders == now.folders
        and was.aliases.equals(now.aliases)
        and was.problems.equals(now.problems)
    )


def _read_by_build(stamps: Stamps, profile: Profile) -> pl.DataFrame:
    """The stamps of files whose content is read: notes, and canvases where the profile says so."""
    path = pl.col("path").str
    is_read = path.contains(r"\.[mM][dD]\z")
    return stamps.files.filter(is_read | path.contains(r"\.[cC][aA][nN][vV][aA][sS]\z") if profile.canvas else is_read)


def _suspects(files: pl.DataFrame, old: State | None, touched: Collection[str]) -> pl.DataFrame:
    """The files to read: those without a trusted stamp, and those known to have been written."""
    trusted = old.trusted if old else STAMPS.to_frame()
    if not trusted.height:
        return files
    written = files.filter(pl.col("path").is_in(list(touched)))
    if files.equals(trusted):  # as most starts find them
        return written
    return pl.concat(
        [
            files.join(trusted, on=files.columns, how="anti", maintain_order="left"),
            written.join(trusted, on=files.columns, how="semi"),
        ]
    ).sort("path")


def _few_suspects(stamps: Stamps, old: State, touched: Collection[str], profile: Profile) -> pl.DataFrame:
    """The same where only ``touched`` files can differ from ``old``, without looking at the others."""
    asked = [path for path in {*old.doubtful, *touched} if is_note(path) or (profile.canvas and is_canvas(path))]
    rows = _rows_at(stamps.files["path"], sorted(asked))
    return pl.DataFrame([column[rows] for column in stamps.files.iter_columns()])


def _rows_at(paths: pl.Series, asked: list[str]) -> list[int]:
    """The rows of those of the ``asked`` paths, ascending, that are in ``paths``, which are sorted too."""
    rows = [row for row in places_of(paths, asked) if row < len(paths)]  # those of the first ones of `asked`
    return [row for row, path, found in zip(rows, asked, paths[rows].to_list(), strict=False) if path == found]


def _doubtful(suspects: pl.DataFrame, taken_ns: int, unread: Collection[Problem]) -> frozenset[str]:
    """Paths of the files just read whose stamps do not vouch for their content.

    Those of a file written so shortly before the stat pass that another edit could have left the same times, and of
    files that could not be read.
    """
    latest = np.maximum(suspects["mtime_ns"].to_numpy(), suspects["ctime_ns"].to_numpy())
    young = suspects["path"].filter(pl.Series(latest >= taken_ns - RACY_NS))
    return frozenset([*young.to_list(), *(path for path, *_ in unread)])


def _with_mtimes(old: State | None, built: Built, taken: _Taken) -> Graph:
    """The graph of ``built`` with this machine's modification times."""
    graph = built.graph
    if old and old.mtimes and old.stamps and taken.present is None:
        from vaultgraph.graph.patch_nodes import changed_mtimes  # noqa: PLC0415 -- as the builder

        mtimes = changed_mtimes(old.mtimes, (old.built.graph, graph), (old.stamps, taken.stamps))
        if mtimes is not None:
            return replace(graph, node_columns={**graph.node_columns, MTIME: mtimes})
    return with_mtimes(graph, taken.stamps)


@frozen
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
    listing = known.listing if known else NOTES.to_frame()
    if not listing["path"].equals(suspects["path"]):
        listing = listing[_rows_at(listing["path"], suspects["path"].to_list())]
    hashes = dict(zip(listing["path"].to_list(), listing["hash"].to_list(), strict=True))
    paths, sizes = suspects["path"].to_list(), suspects["size_bytes"].to_list()
    problems: list[Problem] = []
    from vaultgraph.vault.parsing import Batch, batches_of, changed_of, parse_batches  # noqa: PLC0415 -- as the builder

    def read(first: int, stop: int) -> Batch:
        if source.progress:
            source.progress("read", first, len(paths))
        contents, faults = read_files(source.root, paths[first:stop], sizes[first:stop])
        problems.extend(faults)
        return changed_of(paths[first:stop], contents, hashes)

    parts = parse_batches(source.profile.reading, batches_of(sizes), read)
    return (concat_records(parts) if parts else None), sum(part.notes.height for part in parts), problems


def _replace(known: RecordTable | None, taken: _Taken) -> tuple[RecordTable, bool]:
    """The records of the notes that are there, with the fresh ones in place; and whether anything changed."""
    records, fresh, present = known or concat_records([]), taken.fresh, taken.present
    paths = records.listing["path"]
    gone = paths.clear() if present is None or paths.equals(present) else paths.filter(~paths.is_in(present.implode()))
    if len(gone):
        records = without_paths(records, gone.to_list())
    if fresh is not None:
        records = merge_records(records, fresh) if records.listing.height else fresh
    return records, known is None or bool(len(gone)) or fresh is not None


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
