"""Which nodes a variable-length pattern reaches, each once: breadth first, instead of listing every trail.

Called by execute/run where rules/reach has found that nobody asks for the trails or how many there are.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from vaultgraph.cypher.execute.bindings import Bindings, NodeColumn
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.expand import node_ids
from vaultgraph.cypher.execute.fetch import take_rows
from vaultgraph.cypher.execute.paths import MOST_AT_ONCE, Level, first_level, next_level
from vaultgraph.cypher.execute.scan import label_mask
from vaultgraph.cypher.operators import Reach
from vaultgraph.frozen import frozen
from vaultgraph.graph.columns import Ids

_MOST_FLAGS: Final = 4_000_000  # of three numbers each


class _Flags:
    """The nodes reached so far, a place for every row and node: first relationship and distance."""

    def __init__(self, size: int) -> None:
        self.branches = np.zeros(size, dtype=np.int64)
        self.depths = np.full(size, -1, dtype=np.int64)
        self._firsts = np.zeros(size, dtype=np.int64)

    def find(self, keys: Ids) -> tuple[npt.NDArray[np.bool_], Ids]:
        """Which keys are there, and where."""
        return self.depths[keys] >= 0, keys

    def firsts(self, keys: Ids) -> Ids:
        """The place in ``keys`` where each key comes first."""
        self._firsts[keys[::-1]] = np.arange(len(keys) - 1, -1, -1, dtype=np.int64)  # the last written is the first
        return self._firsts[keys]

    def plus(self, keys: Ids, branches: Ids, depth: int) -> "_Flags":
        """With more nodes, all at one distance."""
        self.branches[keys], self.depths[keys] = branches, depth
        return self


@frozen
class _Seen:
    """The same by key (row and node in one number, ascending), where there are too many rows and nodes for that."""

    keys: Ids
    branches: Ids
    depths: Ids

    def find(self, keys: Ids) -> tuple[npt.NDArray[np.bool_], Ids]:
        """Which keys are there, and where (any place for the others)."""
        if not len(self.keys):
            return np.zeros(len(keys), dtype=np.bool_), np.zeros(len(keys), dtype=np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return self.keys[places] == keys, places

    def firsts(self, keys: Ids) -> Ids:
        """The place in ``keys`` where each key comes first."""
        _, firsts, groups = np.unique(keys, return_index=True, return_inverse=True)
        return firsts[groups]

    def plus(self, keys: Ids, branches: Ids, depth: int) -> "_Seen":
        """With more nodes, all at one distance."""
        all_keys = np.concatenate((self.keys, keys))
        order = np.argsort(all_keys, kind="stable")
        depths = np.concatenate((self.depths, np.full(len(keys), depth, dtype=np.int64)))
        return _Seen(all_keys[order], np.concatenate((self.branches, branches))[order], depths[order])


def reach(plan: Reach, bindings: Bindings, context: Context) -> Bindings | None:
    """One row for each node that some trail of a right length leads to, from the source of each row.

    A node is reached by a trail if and only if it is by a shortest one. Only a start that must reach itself, without
    going back over the relationship it left by, needs more: then ways that meet are looked for. None where the rows
    reach too much to be worked on at once.
    """
    trails, size = plan.trails, max(context.graph.node_count, 1)
    level = first_level(node_ids(bindings, plan.source))
    keys = level.origins * size + level.nodes
    nothing = np.zeros(0, dtype=np.int64)
    flags = bindings.height * size
    seen = _Flags(flags) if flags <= _MOST_FLAGS else _Seen(nothing, nothing, nothing)
    returns = trails.least > 0 and trails.direction == "both"
    if trails.least == 0 or returns:
        seen = seen.plus(keys, np.full(len(keys), -1, dtype=np.int64), 0)
    is_closed = np.zeros(bindings.height, dtype=np.bool_)
    found = [(level.origins, level.nodes)] if trails.least == 0 else []
    starts, depth, total = level, 0, len(keys)
    while len(level.origins) and (trails.most is None or depth < trails.most):
        level = next_level(level, trails, plan.unlike, bindings, context)
        if len(level.origins) > MOST_AT_ONCE and bindings.height > 1:
            return None
        depth += 1
        keys, branches = level.origins * size + level.nodes, level.trail[0]
        known, places = seen.find(keys)
        fresh = np.flatnonzero(~known)
        firsts = seen.firsts(keys[fresh])
        context.budget.check()
        if returns:
            # two ways that left the start by different relationships and meet here make a trail back to it
            lengths = np.where(known, depth + seen.depths[places], 2 * depth)
            others = seen.branches[places]
            others[fresh] = branches[fresh[firsts]]
            closes = branches != others
            is_closed[level.origins[closes if trails.most is None else closes & (lengths <= trails.most)]] = True
        chosen = fresh[firsts == np.arange(len(fresh), dtype=np.int64)]
        seen = seen.plus(keys[chosen], branches[chosen], depth)
        level = Level(level.origins[chosen], level.nodes[chosen], level.trail[:1, chosen])
        found.append((level.origins, level.nodes))
        total += len(chosen)
        context.budget.check(total)
    if returns:
        own = is_closed[starts.origins]
        found.append((starts.origins[own], starts.nodes[own]))
    return _rows(plan, found, bindings, context)


def _rows(plan: Reach, found: list[tuple[Ids, Ids]], bindings: Bindings, context: Context) -> Bindings:
    origins = np.concatenate([origins for origins, _ in found]) if found else np.zeros(0, dtype=np.int64)
    nodes = np.concatenate([nodes for _, nodes in found]) if found else origins
    kept = np.ones(len(nodes), dtype=np.bool_)
    if plan.is_bound:
        kept &= nodes == node_ids(bindings, plan.target)[origins]
    if plan.labels is not None:
        kept &= label_mask(context.graph, nodes, plan.labels)
    origins, nodes = origins[kept], nodes[kept]
    order = np.argsort(origins, kind="stable")
    columns = dict(take_rows(bindings, origins[order]).columns)
    if not plan.is_bound:
        columns[plan.target] = NodeColumn(nodes[order])
    return Bindings(len(origins), columns)
