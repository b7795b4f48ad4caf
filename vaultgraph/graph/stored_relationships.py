"""The relationships of a .kgl file: end nodes in order, read when they are first asked for; adjacency is counted then.

Part of graph/store. The order by target is not in the file: finding it takes about as long as reading and checking it,
and one relationship more would change nearly all of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from vaultgraph.errors import CorruptKglError
from vaultgraph.graph.columns import Column
from vaultgraph.graph.csr import Array32, Csr, csr_by_target, csr_of_sorted
from vaultgraph.graph.graph import Graph, RelationshipTable
from vaultgraph.graph.stored_late import Late, LateReads
from vaultgraph.kgl.arrays import unpack_numbers
from vaultgraph.kgl.reader import KglFile
from vaultgraph.kgl.writer import Piece

_SOURCES: Final = "relationships.sources"
_TARGETS: Final = "relationships.targets"

Ends = list[tuple[Array32, Array32]]
"""Sources and targets of each type."""


class LateTable(RelationshipTable):
    """Relationships of one type whose ends are read, and whose adjacency is counted, when they are first asked for."""

    __slots__ = ("_ends", "_number", "_size")
    _ends: Late[Ends]
    _number: int
    _size: int

    @classmethod
    def of(
        cls, name: str, first: int, size: int, columns: Mapping[str, Column], ends: Late[Ends], number: int
    ) -> "LateTable":
        """The type ``name``, number ``number`` of ``ends``, of ``size`` rows from the global id ``first``."""
        table = object.__new__(cls)
        fields = {"type": name, "first": first, "columns": columns, "_ends": ends, "_number": number, "_size": size}
        for key, value in fields.items():
            object.__setattr__(table, key, value)
        return table

    def __getattr__(self, name: str) -> Array32 | Csr | int:
        """An end or an adjacency that was not asked for before; afterwards it is a field like any other.

        Raises:
            CorruptKglError: the relationships are damaged, or the file was cut off or changed since it was opened.
        """
        match name:
            case "sources" | "targets":
                sources, targets = self._ends()[self._number]
                value = sources if name == "sources" else targets
            case "outgoing":
                value = csr_of_sorted(self.sources, self.targets)
            case "incoming":
                value = csr_by_target(self.sources, self.targets)
            case "_size":  # of a copy with other properties, which has its ends from the start
                value = len(self.sources)
            case _:
                raise AttributeError(name)
        object.__setattr__(self, name, value)
        return value

    @property
    def size(self) -> int:
        """Known without the ends."""
        return self._size


def relationship_sections(graph: Graph) -> Iterator[tuple[str, Piece]]:
    """The end nodes of all types, one after the other."""
    tables = list(graph.relationships.values())
    yield _SOURCES, _joined([table.sources for table in tables])
    yield _TARGETS, _joined([table.targets for table in tables])


def late_tables(
    file: KglFile, reads: LateReads, node_count: int, types: Sequence[Any], columns: Sequence[Mapping[str, Column]]
) -> dict[str, RelationshipTable]:
    """The relationships by type. ``types``: (type, how many) in order; ``columns``: of each.

    Raises:
        CorruptKglError: a type is named twice, or is no text.
    """
    ends = reads.late(partial(_ends, file, node_count, types))
    tables: dict[str, RelationshipTable] = {}
    first = 0
    for number, (kind, size) in enumerate(types):
        if type(kind) is not str or kind in tables:
            raise _damaged(file, "a relationship type is named twice")
        tables[kind] = LateTable.of(kind, first, size, columns[number], ends, number)
        first += size
    reads.late(partial(_count, tables))  # so that a first edit finds it done
    return tables


def _count(tables: Mapping[str, RelationshipTable]) -> list[tuple[Csr, Csr]]:
    """The adjacency of all types."""
    return [(table.outgoing, table.incoming) for table in tables.values()]


def _joined(arrays: list[Array32]) -> Array32:
    return np.concatenate(arrays).astype("<u4", copy=False) if arrays else np.zeros(0, dtype="<u4")


def _ends(file: KglFile, node_count: int, types: Sequence[Any]) -> Ends:
    total = sum(size for _, size in types)
    sources = unpack_numbers(file, _SOURCES, "<u4", total)
    targets = unpack_numbers(file, _TARGETS, "<u4", total)
    if total and max(int(sources.max()), int(targets.max())) >= node_count:
        raise _damaged(file, "a relationship leads to no node")
    found: Ends = []
    first = 0
    for kind, size in types:
        part = slice(first, first + size)
        found.append((sources[part], targets[part]))
        key = (sources[part].astype(np.uint64) << np.uint64(32)) | targets[part]
        if not bool((key[1:] >= key[:-1]).all()):
            raise _damaged(file, f"the relationships {kind} are not sorted")
        first += size
    return found


def _damaged(file: KglFile, what: str) -> CorruptKglError:
    return CorruptKglError(f"{file.path}: damaged ({what}).")
