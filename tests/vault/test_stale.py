"""A snapshot is either what the folder holds or says that it is not."""

import threading
from pathlib import Path

import pytest

import vaultgraph
from vaultgraph.files.root import VaultRoot
from vaultgraph.vault.vault import Vault

TITLES = "MATCH (n:Note) RETURN n.title ORDER BY n.title"


def test_a_change_that_another_thread_takes_in_just_now_is_in_the_answer(folder: Path) -> None:
    note = folder / "A.md"
    note.write_text("# one")

    class Beside(Vault):
        """Another thread refreshes at the very moment at which a query asks whether anything was written."""

        refreshes = False

        def _is_dirty(self) -> bool:
            if self.refreshes:
                self.refreshes = False
                other = threading.Thread(target=self.refresh)
                other.start()
                other.join()
            return super()._is_dirty()

    with Beside(VaultRoot.open(folder), None, watch="off", progress=None) as vault:
        assert vault.query(TITLES).rows == [("one",)]
        note.write_text("# two")
        vault.refreshes = True
        assert vault.query(TITLES).rows == [("two",)]


def test_after_a_fault_of_our_own_answers_say_that_they_are_old(folder: Path) -> None:
    class FaultError(Exception):
        pass

    faults: list[FaultError] = []

    def progress(phase: str, done: int, total: int) -> None:
        if faults:
            raise faults.pop()

    note = folder / "A.md"
    note.write_text("# one")
    with vaultgraph.open(folder, cache=None, progress=progress) as vault:
        note.write_text("# two")
        faults.append(FaultError())
        with pytest.raises(FaultError):
            vault.refresh()
        stale = vault.current().stale
        assert stale is not None
        assert stale.endswith(": a fault in vaultgraph stopped the reading of the notes")
        assert vault.query(TITLES).rows == [("one",)]
        vault.refresh()
        assert vault.current().stale is None
        assert vault.query(TITLES).rows == [("two",)]


def test_a_vault_that_is_gone_answers_from_before_and_says_so(folder: Path, tmp_path: Path) -> None:
    (folder / "A.md").write_text("# one")
    with vaultgraph.open(folder, cache=None, watch="auto") as vault:
        vault.query(TITLES)
        folder.rename(tmp_path / "away")
        snapshot = vault.current()
        assert snapshot.stale is not None
        assert "is gone" in snapshot.stale
        assert vault.query(TITLES).rows == [("one",)]
        (tmp_path / "away").rename(folder)
        vault.refresh()
        assert vault.current().stale is None
        (folder / "A.md").write_text("# two")
        assert vault.query(TITLES).rows == [("two",)]
