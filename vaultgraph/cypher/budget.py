"""The limits of one running query: a deadline, caps of intermediate rows and bytes, and cancelling.

Operators call `check` between steps and inside loops; nothing else stops a query.
"""

import time
from dataclasses import field
from threading import Event

from vaultgraph.errors import BudgetError
from vaultgraph.frozen import frozen


@frozen
class Budget:
    """``deadline`` is on the monotonic clock in seconds, or None; ``most_rows`` caps the rows of one operator,
    ``most_bytes`` what one operator or function makes (an estimate: several live at once)."""

    deadline: float | None = None
    most_rows: int = 20_000_000
    most_bytes: int = 512_000_000
    cancelled: Event = field(default_factory=Event)
    timeout_ms: int | None = None

    def check(self, rows: int = 0, size: int = 0) -> None:
        """Go on, or raise: call it with the number of rows about to be made, and about how many bytes they take.

        Raises:
            BudgetError: the caller cancelled, the deadline has passed, or ``rows`` or ``size`` is over its cap.
        """
        if self.cancelled.is_set():
            raise BudgetError("The query was cancelled.")
        if rows > self.most_rows:
            raise BudgetError(
                f"The query needs {rows:,} intermediate rows, over the cap of {self.most_rows:,}. "
                "Start from fewer nodes (a label with a property), bound variable-length patterns, or add LIMIT."
            )
        if size > self.most_bytes:
            raise BudgetError(
                f"The query needs more than {self.most_bytes // 1_000_000:,} MB for one of its steps. Start from fewer "
                "nodes, keep only what is needed (a property instead of whole texts or lists), or add LIMIT earlier."
            )
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise BudgetError(
                f"The query ran out of time ({self.timeout_ms} ms). Start from fewer nodes, bound variable-length "
                "patterns such as *1..3, or raise timeout_ms."
            )


def budget_for(timeout_ms: int | None, cancelled: Event | None = None) -> Budget:
    """A budget that starts now; None or 0 is no deadline."""
    deadline = time.monotonic() + timeout_ms / 1000 if timeout_ms else None
    return Budget(deadline=deadline, cancelled=cancelled or Event(), timeout_ms=timeout_ms or None)
