"""Ordered lists of one body as lists with steps, and ordered lists directly inside a step as steps below it.

A list counts where nothing but quotes is around it. What else stands in a step, lists with bullets too, is its text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

from vaultgraph.note.pieces_blocks import Container, block_id, id_below, in_containers, trimmed


@dataclass(slots=True)
class Step:
    """An item of an ordered list, and the lists directly in it."""

    container: Container
    lists: list["OrderedList"] = field(default_factory=list["OrderedList"])

    def text(self) -> str:
        """What it says, without its marker and the lists in it."""
        lines, start = self.container.lines(), self.container.start
        own: list[str] = []
        at = 0
        # row loop: the ordered lists of one item
        for inner in self.lists:
            own += lines[at : inner.start - start]
            at = inner.end - start
            while at > 0 and not lines[at - 1].strip():
                at -= 1
        return trimmed(own + lines[at:])

    def block(self) -> str | None:
        """The block id at the end of its first paragraph."""
        return block_id(self.text().partition("\n\n")[0])


@dataclass(slots=True)
class OrderedList:
    """An ordered list from line ``start`` to before ``end`` (0-based), with its block id."""

    start: int
    end: int
    block: str | None = None
    steps: list[Step] = field(default_factory=list[Step])


def lists_of(tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[OrderedList]:
    """The ordered lists of a body that count, in order; nested ones are in their steps."""
    around: list[OrderedList | Step | None] = []  # lists and items that are open; None: one that does not count
    tops: list[OrderedList] = []
    # row loop: the block tokens of one body
    for position, token, container in in_containers(tokens, lines):
        start, end = token.map or (0, 0)
        outer = around[-1] if around else None
        match token.type:
            case "ordered_list_open":
                inner = OrderedList(start, end) if not around or isinstance(outer, Step) else None
                if inner is not None:
                    (outer.lists if isinstance(outer, Step) else tops).append(inner)
                around.append(inner)
            case "list_item_open":
                step = Step(container) if isinstance(outer, OrderedList) and container is not None else None
                if step is not None and isinstance(outer, OrderedList):
                    outer.steps.append(step)
                around.append(step)
            case "blockquote_open" if around:
                around.append(None)
            case "bullet_list_open":
                around.append(None)
            case "ordered_list_close":
                closed = around.pop()
                if isinstance(closed, OrderedList):
                    closed.block = id_below(tokens, position)
                if not around and closed is not None:
                    yield tops.pop()
            case "blockquote_close" if around:
                around.pop()
            case "list_item_close" | "bullet_list_close":
                around.pop()
            case _:
                pass
