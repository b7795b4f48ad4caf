"""Work that may hang, done in a thread of its own: who asked for it waits only so long.

A read of a file on a network that has gone away blocks its thread for good; nothing can stop it. Whoever needs an
answer can only stop waiting for it.
"""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def held(lock: threading.Lock) -> Generator[None]:
    """Release ``lock``, which the caller has taken, at the end."""
    try:
        yield
    finally:
        lock.release()


def when_free(work: Callable[[], object], lock: threading.Lock, patience_s: float) -> None:
    """Do ``work`` holding ``lock``; where that is not free in time, a thread does it as soon as it is."""
    if lock.acquire(timeout=patience_s):
        with held(lock):
            work()
        return

    def later() -> None:
        with lock:
            work()

    with suppress(RuntimeError):  # the interpreter ends, and everything with it
        threading.Thread(target=later, name="closing", daemon=True).start()


def waits_for(event: threading.Event, patience_s: float) -> Callable[[], None]:
    """A call that waits for ``event``; all calls of it together wait no longer than ``patience_s``."""
    left_s = patience_s

    def wait() -> None:
        nonlocal left_s
        if left_s > 0 and not event.is_set():
            began = time.monotonic()
            event.wait(left_s)
            left_s -= time.monotonic() - began

    return wait


class OwnThread:
    """A thread that lasts, for work that only one does at a time; started when there first is some.

    It lasts because libraries keep things by thread, compiled expressions for one.
    """

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._giving = threading.Lock()  # so that nothing is given to a thread that was told to end
        self._thread: threading.Thread | None = None
        self._is_stopped = False

    def run(self, work: Callable[[], T], lock: threading.Lock, patience_s: float | None) -> T | None:
        """What ``work`` gives; None where it takes longer than ``patience_s`` (None: no matter how long it takes); it
        then goes on.

        ``lock``, which the caller has taken, is released when the work is done, by whichever thread does it.

        Raises:
            BaseException: what ``work`` raised in time. Later than that nobody is told.
        """
        results: list[T] = []
        faults: list[BaseException] = []
        done = threading.Event()

        def task() -> None:
            try:
                with held(lock):
                    results.append(work())
            except BaseException as fault:  # noqa: BLE001 -- handed to who waits; also a panic of polars, no Exception
                faults.append(fault)
            done.set()

        if self._gives(task):
            done.wait(patience_s)
        else:
            task()
        if faults:
            raise faults[0]
        return results[0] if results else None

    def stop(self, patience_s: float) -> None:
        """Let the thread end when it is done with what it has, and wait so long for that. Who still asks for work
        does it alone."""
        with self._giving:
            self._is_stopped = True
            self._tasks.put(None)
        if self._thread:
            self._thread.join(patience_s)

    def _gives(self, task: Callable[[], None]) -> bool:
        """Whether the thread takes ``task``; without more threads, or where the interpreter ends, there is none."""
        with self._giving:
            if self._is_stopped:
                return False
            if self._thread is None:
                thread = threading.Thread(target=self._loop, name="refresh", daemon=True)
                try:
                    thread.start()
                except RuntimeError:
                    return False
                self._thread = thread
            self._tasks.put(task)
            return True

    def _loop(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()
            del task  # it holds what it did, until there is another one
