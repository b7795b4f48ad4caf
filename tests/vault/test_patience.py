"""A refresh that hangs does not stop the answers of other threads."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from vaultgraph.vault import vault as door
from vaultgraph.vault.vault import open_vault

TITLES = "MATCH (n:Note) RETURN n.title ORDER BY n.title"


def test_while_a_read_hangs_queries_answer_what_was_there_before_and_say_so(write, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(door, "PATIENCE_S", 0.01)
    folder = write({"a.md": "# a"})
    hangs, goes_on = threading.Event(), threading.Event()
    goes_on.set()

    def progress(phase: str, done: int, total: int) -> None:
        if not goes_on.is_set():
            hangs.set()
            assert goes_on.wait(60)

    with open_vault(folder, progress=progress) as vault, ThreadPoolExecutor(1) as pool:
        write({"a.md": "# new"})
        goes_on.clear()
        refreshed = pool.submit(vault.refresh)
        assert hangs.wait(60)
        for _ in range(2):
            result, snapshot = vault.run(TITLES, {})
            assert result.rows == [("a",)]
            assert snapshot.stale is not None
            assert snapshot.stale.endswith("Z: the notes are still being read")
        goes_on.set()
        assert refreshed.result(60).parsed == 1
        result, snapshot = vault.run(TITLES, {})
        assert (result.rows, snapshot.stale) == ([("new",)], None)
