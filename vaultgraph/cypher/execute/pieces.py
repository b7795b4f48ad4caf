"""Running an operator on some rows at a time, so that it stays small and the budget is looked at often.

Called by execute/run for the operators whose work for one row is large and does not depend on other rows.
"""

import time
from collections.abc import Callable
from typing import Final

from vaultgraph.cypher.execute.bindings import Bindings
from vaultgraph.cypher.execute.combine import stack
from vaultgraph.cypher.execute.context import Context
from vaultgraph.cypher.execute.order import window

_SHORT_S: Final = 0.01
_LONG_S: Final = 0.05
_GROWTH: Final = 4
_MOST_ROWS: Final = 524_288


def in_pieces(
    bindings: Bindings, context: Context, first: int, work: Callable[[Bindings], Bindings | None]
) -> Bindings:
    """What ``work`` makes of all rows, below one another; ``first`` rows at first, then as many as go in a moment.

    ``work`` may give None to ask for fewer rows; with one row it must not.

    Raises:
        BudgetError: the rows made are too many, or the budget ran out.
    """
    if bindings.height <= first and (made := work(bindings)) is not None:
        return made
    found: list[Bindings] = []
    start, total = 0, 0
    most = min(bindings.height, _MOST_ROWS)
    size = first if bindings.height > first else max(1, bindings.height // _GROWTH)
    while start < bindings.height:
        began = time.perf_counter()
        made = work(window(bindings, start, start + size))
        if made is None:
            size = most = max(1, size // _GROWTH)
            continue
        found.append(made)
        total += made.height
        context.budget.check(total, 8 * total * len(made.columns))
        start += size
        took = time.perf_counter() - began
        if took < _SHORT_S:
            size = min(size * _GROWTH, most)
        elif took > _LONG_S:
            size = max(1, size // 2)
    return stack(found)
