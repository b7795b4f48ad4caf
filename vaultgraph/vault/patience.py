"""Work that may hang, done in a thread of its own: who asked for it waits only so long.

A read of a file on a network that has gone away blocks its thread for good; nothing can stop it. Whoever needs an
answer can only stop waiting for it.
"""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def held(lock: threading.Lock) -> Generator[None]:
    """Release ``lock``, which the caller has taken, at the end."""
    try:
        yield
    finally:
        lock.release()


def apart(work: Callable[[], T], lock: threading.Lock, patience_s: float | None) -> T | None:
    """What ``work`` gives, done in another thread; None where it takes longer than ``patience_s`` (None: no matter
    how long it takes); it then goes on.

    ``lock``, which the caller has taken, is released when the work is done, by whichever thread does it.

    Raises:
        Exception: what ``work`` raised in time. Later than that nobody is told.
    """
    results: list[T] = []
    faults: list[Exception] = []

    def run() -> None:
        with held(lock):
            try:
                results.append(work())
            except Exception as fault:  # noqa: BLE001 -- handed to the thread that waits
                faults.append(fault)

    thread = threading.Thread(target=run, name="refresh", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no more threads, or the interpreter ends
        run()
    else:
        thread.join(patience_s)
    if faults:
        raise faults[0]
    return results[0] if results else None
