"""Resolution over columns against a resolver that looks at one link and one file at a time, on random vaults."""

import posixpath
import unicodedata
from dataclasses import dataclass

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultgraph.files.stamps import Stamps, problem_frame
from vaultgraph.graph.catalogue import catalogue_of
from vaultgraph.graph.known import in_order, names_of
from vaultgraph.graph.resolve import Found, Mode, other_names, resolve
from vaultgraph.note.records import NOTES, RecordTable, empty_records
from vaultgraph.profile.settings import Profile

NAMES = ["a", "A", "b", "ß", "ss", "é", "e\u0301", "a.png", "x.md", "v1.2", "my note", "my-note"]
FOLDERS = ["", "f", "F2", "f/g", "g", "f/g/f", "ß"]
OTHERS = ["", ".png", ".PDF", ".canvas"]
RELATIVE = ["", "", "", "./", "../", "../../", "/", "f/", "g/", "F/G/", "f/../", "f//g/", "C:/"]

TITLES = ["My  note", "A", "x", "T"]
MODES = [Mode.WIKI, Mode.WIKI, Mode.MARKDOWN, Mode.CANVAS]


@dataclass(frozen=True)
class Case:
    """A random vault: paths, other names by note, and links as (target, folder of the source, mode)."""

    notes: list[str]
    others: list[str]
    aliases: list[tuple[int, str]]
    titles: list[str]
    links: list[tuple[str, str, Mode]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Few names a vault, so that they clash."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    folders = draw(st.lists(st.sampled_from(FOLDERS), min_size=1, max_size=4, unique=True))
    name, folder = st.sampled_from(names), st.sampled_from(folders)
    notes = draw(st.sets(st.builds(lambda f, n: posixpath.join(f, f"{n}.md"), folder, name), min_size=1, max_size=8))
    other = st.builds(lambda f, n, end: posixpath.join(f, n + end), folder, name, st.sampled_from(OTHERS))
    others = draw(st.sets(other.filter(lambda path: not path.lower().endswith(".md")), max_size=4))
    end = st.sampled_from(["", "", ".md", ".MD", ".png"])
    target = st.builds(
        lambda start, n, e: start + n + e, st.sampled_from(RELATIVE), st.sampled_from([*names, *TITLES]), end
    )
    return Case(
        notes=sorted(notes),
        others=sorted(others),
        aliases=draw(st.lists(st.tuples(st.integers(0, len(notes) - 1), st.sampled_from(NAMES)), max_size=2)),
        titles=draw(st.lists(st.sampled_from(TITLES), min_size=len(notes), max_size=len(notes))),
        links=draw(st.lists(st.tuples(target, folder, st.sampled_from(MODES)), min_size=4, max_size=20)),
    )


def folded(name: str) -> str:
    """The comparison key of a name."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


class NaiveVault:
    """Files, notes first, each kind sorted by path; and the rules, for one link at a time."""

    def __init__(
        self, note_paths: list[str], other_paths: list[str], aliases: list[tuple[int, str]], titles: list[str]
    ):
        self.paths = note_paths + other_paths
        self.note_count = len(note_paths)
        self.aliases, self.titles = aliases, titles

    def names(self, rank: int) -> list[tuple[str, int]]:
        """(folded name, file) of what is found at a rank: whole names, notes without .md, bare other files."""
        found = []
        for file, path in enumerate(self.paths):
            is_note = file < self.note_count
            stem, _, end = path.rpartition("/")[2].rpartition(".")
            has_extension = bool(stem) and end.isascii() and end.isalnum() and any(c.isalpha() for c in end)
            if rank == 0 and (is_note or has_extension):
                found.append((folded(path), file))
            if rank == 1 and is_note:
                found.append((folded(path[:-3]), file))
            if rank == 2 and not is_note and not has_extension:
                found.append((folded(path), file))
        return found

    def answer(self, target: str, folder: str, mode: Mode) -> tuple[int | None, int, bool, bool]:
        """(file, via, is_ambiguous, is_outside) of one link."""
        if target[1:3] == ":/":
            return None, 0, False, True
        is_relative = target.startswith(("./", "../"))
        path = posixpath.join(folder, target) if is_relative and mode != Mode.CANVAS else target.strip("/")
        path = posixpath.normpath(path)
        if path.startswith(".."):
            return None, 0, False, True
        key = folded(path)
        if is_relative or target.startswith("/") or mode == Mode.CANVAS:
            exact = self.exact(key)
            return (None, 0, False, False) if exact is None else self.spelled(exact, False, path, folder)
        for rank in range(3):
            ends = [(name, file) for name, file in self.names(rank) if name == key or name.endswith(f"/{key}")]
            if ends:
                return self.spelled(*self.chosen(ends, key, folded(posixpath.join(folder, path)), mode), path, folder)
        return (*self.by_other_names(key), False, False)

    def spelled(self, file: int, is_ambiguous: bool, name: str, folder: str) -> tuple[int, int, bool, bool]:
        """Of several files whose paths fold to one, that which is spelled as the link is, in the own folder first."""
        twins = [twin for twin, path in enumerate(self.paths) if folded(path) == folded(self.paths[file])]

        def place(twin: int) -> tuple[bool, bool]:
            path = self.paths[twin]
            is_spelled = f"/{path}".endswith((f"/{name}", f"/{name}.md"))
            return not is_spelled, posixpath.dirname(path) != folder

        best = min(twins, key=lambda twin: (place(twin), self.paths[twin]))
        is_shared = len(twins) > 1 and (place(best)[0] or sum(place(twin) == place(best) for twin in twins) > 1)
        return best, 0, is_ambiguous or is_shared, False

    def exact(self, key: str) -> int | None:
        """The file whose whole path is ``key``."""
        for rank in range(3):
            files = [file for name, file in self.names(rank) if name == key]
            if files:
                return min(files, key=self.order)
        return None

    def chosen(self, ends: list[tuple[str, int]], key: str, own_key: str, mode: Mode) -> tuple[int, bool]:
        """Of several files with the name: whole path, own folder, shortest; the own folder first for what is no note,
        and for Markdown links."""
        whole = [file for name, file in ends if name == key]
        own = [file for name, file in ends if name == own_key]
        best = min((file for _, file in ends), key=self.order)
        is_shared = len({folded(self.paths[file]) for _, file in ends}) > 1
        is_plain = mode == Mode.MARKDOWN or best >= self.note_count
        order = [(own, False), (whole, False)] if is_plain else [(whole, False), (own, is_shared)]
        for files, is_ambiguous in order:
            if files:
                return min(files, key=self.order), is_ambiguous
        return best, is_shared

    def by_other_names(self, key: str) -> tuple[int | None, int]:
        """Alias, title, slug."""
        key = key.removesuffix(".md")

        def slug(name: str) -> str:
            return " ".join(folded(name).replace("_", " ").replace("-", " ").split())

        stems = [path.rpartition("/")[2][:-3] for path in self.paths[: self.note_count]]
        kinds = [
            {file for file, name in self.aliases if folded(name) == key},
            {file for file, name in enumerate(self.titles) if folded(name) == key},
            {file for file, name in [*enumerate(stems), *enumerate(self.titles)] if slug(name) == slug(key)},
        ]
        for via, files in enumerate(kinds, start=1):
            if len(files) == 1:
                return files.pop(), via
        return None, 0

    def order(self, file: int) -> tuple[int, str]:
        """Shortest path first, then by path."""
        return len(self.paths[file]), self.paths[file]


def records_of(paths: list[str]) -> RecordTable:
    """Records of notes that state nothing."""
    empty = empty_records()
    blank = {
        "hash": b"",
        "size_bytes": 0,
        "is_canvas": False,
        "is_skipped": False,
        "title": "",
        "body": "",
        "body_line": 1,
    }
    tables = {**empty.tables(), "notes": pl.DataFrame([{"path": path, **blank} for path in paths], schema=NOTES)}
    return RecordTable(**tables)


@given(cases())
@settings(max_examples=60, deadline=None)
def test_the_columns_answer_as_one_link_at_a_time(case):
    files = pl.DataFrame(
        {"path": sorted([*case.notes, *case.others]), "size_bytes": 1, "mtime_ns": 1},
        schema={"path": pl.String, "size_bytes": pl.Int64, "mtime_ns": pl.Int64},
    )
    no_links = pl.DataFrame(schema={"path": pl.String, "target": pl.String})
    stamps = Stamps(files=files, folders=[], aliases=no_links, problems=problem_frame([]))
    catalogue = catalogue_of(records_of(case.notes), stamps, Profile())
    named = pl.DataFrame(case.aliases, schema={"file": pl.Int64, "name": pl.String}, orient="row")
    asked = pl.DataFrame(case.links, schema={"target": pl.String, "folder": pl.String, "mode": pl.UInt8}, orient="row")
    names = names_of(catalogue, other_names(catalogue, named, pl.Series(case.titles, dtype=pl.String)))
    found = resolve(asked, names)
    few_at_a_time = resolve(asked, in_order(names))
    naive = NaiveVault(case.notes, case.others, case.aliases, case.titles)
    answers = [naive.answer(target, folder, Mode(mode)) for target, folder, mode in case.links]
    assert _answers(found) == answers
    assert _answers(few_at_a_time) == answers


def _answers(found: Found) -> list[tuple[int | None, int, bool, bool]]:
    files = [None if file < 0 else file for file in found.file.tolist()]
    columns = (found.via, found.is_ambiguous, found.is_outside)
    return list(zip(files, *(column.tolist() for column in columns), strict=True))
