"""Rows of a query that become values only as they are read.

Between a Result of the engine and the pages of an answer: of a result of a million rows an answer shows a few hundred,
and only those are taken from the graph.
"""

from collections.abc import Sequence
from typing import Final, Protocol, cast

import numpy as np

from vaultgraph.cypher.execute.bindings import BoundColumn, NodeColumn, ObjectColumn, RelationshipColumn, ValueColumn
from vaultgraph.cypher.execute.fetch import take_rows
from vaultgraph.cypher.result import Result

SAMPLE: Final = 64


class Rows(Protocol):
    """A table of known length that is read in parts."""

    @property
    def size_bytes(self) -> int:
        """About how much memory it holds, a graph it refers to aside."""
        ...

    def __len__(self) -> int: ...

    def part(self, first: int, stop: int) -> Sequence[tuple[object, ...]]:
        """The rows ``first`` … ``stop - 1``, as many as there are."""
        ...


class ResultRows:
    """The rows of a Result."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self.size_bytes = sum(_column_bytes(result.bindings.columns[name]) for name in result.columns)

    def __len__(self) -> int:
        return len(self._result)

    def part(self, first: int, stop: int) -> Sequence[tuple[object, ...]]:
        """The rows ``first`` … ``stop - 1`` as public values."""
        result = self._result
        positions = np.arange(first, min(stop, len(result)), dtype=np.int64)
        taken = take_rows(result.bindings, positions, result.columns)
        return Result(result.columns, taken, result.graph).rows


class ListRows:
    """Rows that are values already."""

    def __init__(self, rows: Sequence[tuple[object, ...]]) -> None:
        self._rows = rows
        self.size_bytes = _objects_bytes(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def part(self, first: int, stop: int) -> Sequence[tuple[object, ...]]:
        """The rows ``first`` … ``stop - 1``."""
        return self._rows[first:stop]


def _column_bytes(column: BoundColumn) -> int:
    match column:
        case NodeColumn() | RelationshipColumn():
            return column.ids.nbytes
        case ValueColumn():
            return int(column.series.estimated_size())
        case ObjectColumn():
            return _objects_bytes(column.values)


def _objects_bytes(values: Sequence[object]) -> int:
    """From an even sample."""
    sample = values[:: max(1, len(values) // SAMPLE)]
    return sum(map(_object_bytes, sample)) * len(values) // max(1, len(sample))


def _object_bytes(value: object) -> int:
    match value:
        case str():
            return 50 + len(value)
        case list() | tuple():
            return 56 + sum(map(_object_bytes, cast("Sequence[object]", value)))
        case dict():
            return 64 + sum(map(_object_bytes, cast("dict[str, object]", value).values()))
        case _:
            return 48
