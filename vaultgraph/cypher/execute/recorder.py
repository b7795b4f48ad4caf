"""What every operator of a run takes: rows, runs and time, for PROFILE.

Handed to execute/run, which opens a watch around each operator; operators know nothing of it.
"""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from vaultgraph.cypher.operators import Plan


@dataclass(slots=True)
class Watch:
    """``rows`` made and ``seconds`` of its own, without those of its inputs, over all ``runs`` of one operator."""

    rows: int = 0
    runs: int = 0
    seconds: float = 0.0


class Recorder:
    """The watches of one run, by operator; an operator is told by identity, since equal ones may stand apart."""

    def __init__(self) -> None:
        self._watches: dict[int, Watch] = {}
        self._inside: list[float] = [0.0]  # time spent in the inputs of each operator that is running

    @contextmanager
    def watching(self, plan: Plan) -> Generator[Watch]:
        """The watch of an operator, running."""
        watch = self._watches.setdefault(id(plan), Watch())
        self._inside.append(0.0)
        started = time.perf_counter()
        try:
            yield watch
        finally:
            whole = time.perf_counter() - started
            watch.runs += 1
            watch.seconds += whole - self._inside.pop()
            self._inside[-1] += whole

    def of(self, plan: Plan) -> Watch:
        """The watch of an operator; an empty one where it never ran."""
        return self._watches.get(id(plan), Watch())
