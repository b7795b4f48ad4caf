"""Files that are replaced, taken away or written while a refresh reads the folder."""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import vaultgraph
from vaultgraph.files.root import VaultRoot
from vaultgraph.files.stamps import Problem, read_files
from vaultgraph.vault import refresh as refreshing

VALUES = "MATCH (n:Note) RETURN n.path, n.v ORDER BY n.path"
Meanwhile = Callable[[list[Callable[[], object]]], None]


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Meanwhile:
    """Lets things happen between the stat pass and the reads of it, one for each time files are read.

    What a step gives, where it gives a function, happens when the files have been read.
    """
    steps: list[Callable[[], object]] = []

    def slow(root: VaultRoot, paths: Sequence[str], sizes: Sequence[int]) -> tuple[list[bytes | None], list[Problem]]:
        after = steps.pop(0)() if steps else None
        read = read_files(root, paths, sizes)
        if callable(after):
            after()
        return read

    monkeypatch.setattr(refreshing, "read_files", slow)
    return steps.extend


def said(value: int) -> str:
    return f"---\nv: {value}\n---\n"


def test_a_file_that_is_replaced_while_it_is_read_is_never_what_it_was_before(
    folder: Path, meanwhile: Meanwhile
) -> None:
    note = folder / "a.md"
    note.write_text(said(1))
    with vaultgraph.open(folder, cache=None, watch="auto") as vault:
        assert vault.query(VALUES).rows == [("a.md", 1)]
        note.write_text(said(2))

        def taken_away() -> Callable[[], object]:
            note.unlink()
            return lambda: note.write_text(said(3))

        meanwhile([taken_away])
        assert vault.query(VALUES).rows == [("a.md", 3)]
        assert vault.report.problems.height == 0


def test_a_file_that_comes_and_goes_all_the_time_is_left_out_rather_than_old(
    folder: Path, meanwhile: Meanwhile
) -> None:
    note = folder / "a.md"
    note.write_text(said(1))
    (folder / "b.md").write_text(said(7))

    def swap() -> None:
        note.unlink()
        note.mkdir()

    with vaultgraph.open(folder, cache=None) as vault:
        note.write_text(said(2))
        meanwhile([swap, lambda: (note.rmdir(), note.write_text(said(2)), swap())] * 2)
        vault.refresh()
        assert [row for row in vault.query(VALUES).rows if row[1] == 1] == []


def test_a_file_that_is_gone_before_it_is_read_is_no_empty_note(folder: Path, meanwhile: Meanwhile) -> None:
    (folder / "a.md").write_text(said(1))
    with vaultgraph.open(folder, cache=None, watch="auto") as vault:
        new = folder / "new.md"
        new.write_text(said(2))
        meanwhile([new.unlink])
        assert vault.query(VALUES).rows == [("a.md", 1)]


def test_what_is_saved_while_a_refresh_reads_is_in_its_answer(folder: Path, meanwhile: Meanwhile) -> None:
    first, second = folder / "a.md", folder / "b.md"
    first.write_text(said(1))
    second.write_text(said(1))
    with vaultgraph.open(folder, cache=None, watch="auto") as vault:
        second.write_text(said(2))
        # A later answer with the second save and without the first would be of a state the folder never had.
        meanwhile([lambda: first.write_text(said(3))])
        assert vault.query(VALUES).rows == [("a.md", 3), ("b.md", 2)]


def test_a_folder_that_is_put_back_is_answered_at_once(folder: Path) -> None:
    (folder / "a.md").write_text(said(1))
    with vaultgraph.open(folder, cache=None, watch="auto") as vault:
        for value in (2, 3):
            shutil.rmtree(folder)
            assert vault.run(VALUES, {})[1].stale is not None
            folder.mkdir()
            (folder / "a.md").write_text(said(value))
            result, snapshot = vault.run(VALUES, {})
            assert (result.rows, snapshot.stale) == ([("a.md", value)], None)


def test_a_folder_that_was_replaced_is_held_open_no_longer(folder: Path) -> None:
    (folder / "a.md").write_text(said(1))
    with vaultgraph.open(folder, cache=None) as vault:
        handle = vault.root.handle
        folder.rename(folder.with_name("old"))
        folder.mkdir()
        (folder / "a.md").write_text(said(2))
        vault.refresh()
        assert vault.query(VALUES).rows == [("a.md", 2)]
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(handle)
