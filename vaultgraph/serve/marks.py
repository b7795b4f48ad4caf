"""What an answer says of its truth: which generation it is of, the moment it is true of, and since when that is old.

Made where a snapshot is asked, printed by serve/payload and the operations.
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from vaultgraph.frozen import frozen
from vaultgraph.serve.cells import one_line

if TYPE_CHECKING:
    from vaultgraph.vault.snapshot import Snapshot


@frozen
class Marks:
    """``as_of``: the UTC time up to which all edits are in. ``stale``: "since <UTC time>: <reason>", or None.

    ``valid_at``: the day that was asked for, or "all"; None where nothing declares valid time.
    """

    generation: int
    as_of: str
    stale: str | None = None
    valid_at: str | None = None

    @property
    def line(self) -> str:
        """In a few words, to end a line with: the generation, and up to when all edits are in."""
        words = f"gen {self.generation} · {self.as_of}"
        return f"{words} · valid time {self.valid_at}" if self.valid_at else words

    @property
    def stale_lines(self) -> list[str]:
        """A line where the answer is old."""
        return [one_line(f"stale {self.stale}")] if self.stale else []

    @property
    def data(self) -> dict[str, Any]:
        """The same as JSON."""
        data: dict[str, Any] = {"generation": self.generation, "as_of": self.as_of, "stale": self.stale}
        return {**data, "valid_at": self.valid_at} if self.valid_at else data


def marks_of(snapshot: "Snapshot", asked: datetime, valid_at: str | None = None) -> Marks:
    """The marks of an answer from ``snapshot``, which was taken after ``asked``.

    A snapshot that follows events holds all edits that were made until it was asked for; one that does not, those until
    the last look at the folder; a stale one those until it was built.
    """
    moment = snapshot.built_at if snapshot.stale else asked if snapshot.watch == "auto" else snapshot.looked_at
    return Marks(snapshot.generation, f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}", snapshot.stale, valid_at)
