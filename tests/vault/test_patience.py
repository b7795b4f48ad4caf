"""A refresh that hangs stops nobody's answers: not those of other threads, and not that of the call that began it."""

import threading
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest

from vaultgraph.errors import BuildError
from vaultgraph.vault import vault as door
from vaultgraph.vault.patience import OwnThread, waits_for
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


def test_the_call_that_begins_a_refresh_that_hangs_is_answered_too(write, monkeypatch: pytest.MonkeyPatch):
    folder = write({"a.md": "# a"})
    goes_on, began = threading.Event(), threading.Event()
    goes_on.set()

    def progress(phase: str, done: int, total: int) -> None:
        if not goes_on.is_set():
            began.set()
            assert goes_on.wait(60)

    with open_vault(folder, progress=progress, watch="auto", cache=None) as vault:
        monkeypatch.setattr(door, "PATIENCE_S", 0.01)
        goes_on.clear()
        write({"a.md": "# new"})
        result, snapshot = vault.run(TITLES, {})
        assert result.rows == [("a",)]
        assert snapshot.stale is not None
        assert snapshot.stale.endswith("Z: the notes are still being read")
        assert began.wait(60)
        assert vault.save() is None  # it does not wait for what hangs
        goes_on.set()
        monkeypatch.setattr(door, "PATIENCE_S", 60.0)
        result, snapshot = vault.run(TITLES, {})
        assert (result.rows, snapshot.stale) == ([("new",)], None)


def test_a_vault_that_is_being_closed_takes_nothing_in_any_more(write, monkeypatch: pytest.MonkeyPatch):
    folder = write({"a.md": "# a"})
    vault = open_vault(folder, cache=None)
    told: list[str] = []

    def saves() -> None:
        for ask in (vault.refresh, vault.rebuild):
            with pytest.raises(BuildError) as refused:
                ask()
            told.append(refused.value.message)

    monkeypatch.setattr(vault, "save", saves)  # what closing does while others may ask
    vault.close()
    assert told == ["The vault is closed: open it again to ask it."] * 2


def test_a_vault_closed_before_it_was_built_says_nothing_of_its_cache(write):
    vault = open_vault(write({"a.md": "# a"}), build=False)
    vault.close()
    with pytest.raises(BuildError, match="The vault is closed"):
        vault.rebuild()
    assert not vault.is_cache_refused


def test_a_fault_in_a_thread_of_its_own_reaches_who_waits() -> None:
    lock = threading.Lock()
    lock.acquire()
    with pytest.raises(ZeroDivisionError):
        OwnThread().run(lambda: 1 // 0, lock, 60.0)
    assert not lock.locked()


def test_a_panic_of_the_column_engine_reaches_who_waits_and_leaves_the_thread_at_work() -> None:
    def panics() -> None:
        raise pl.exceptions.PanicException("index out of bounds")

    own, lock = OwnThread(), threading.Lock()
    lock.acquire()
    with pytest.raises(pl.exceptions.PanicException):
        own.run(panics, lock, 60.0)
    lock.acquire()
    assert own.run(threading.current_thread, lock, 60.0) is not threading.current_thread()
    assert not lock.locked()
    own.stop(60.0)


def test_work_given_while_its_thread_is_told_to_end_is_done_all_the_same() -> None:
    for _ in range(50):
        own, lock, both = OwnThread(), threading.Lock(), threading.Barrier(2)
        lock.acquire()
        own.run(lambda: None, lock, 60.0)

        def ends(own: OwnThread = own, both: threading.Barrier = both) -> None:
            both.wait(60)
            own.stop(60.0)

        ending = threading.Thread(target=ends)
        ending.start()
        lock.acquire()
        both.wait(60)
        assert own.run(lambda: 7, lock, 60.0) == 7
        assert not lock.locked()
        ending.join(60)


def test_without_more_threads_the_work_is_done_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    lock = threading.Lock()
    lock.acquire()
    assert OwnThread().run(lambda: 7, lock, 60.0) == 7
    assert not lock.locked()


def test_who_waits_for_calm_goes_on_when_it_comes_or_when_the_patience_of_all_calls_is_used_up():
    calm = threading.Event()
    wait = waits_for(calm, 0.01)
    for _ in range(3):
        wait()
    patient = waits_for(calm, 60.0)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(patient)
        assert not waiting.done()
        calm.set()
        waiting.result(60)
    patient()
