"""Tasks: items of lists that begin with a mark in brackets.

Two readers with one result: from block tokens, exact; and from the lines of a body in which nothing can hide a list
item, without parsing it. `pieces` chooses.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import polars as pl
from markdown_it.token import Token

from vaultgraph.note.pieces_blocks import block_id

_MARK: Final = r"\[([^\[\]\n])\][ \t]+(\S.*)"
_ITEM: Final = r"(?:[-*+]|[0-9]{1,9}[.)])"
_CANDIDATE: Final = rf"(?m)^[ \t>0-9.)*+-]*{_ITEM}[ \t]+\[[^\[\]\n]\][ \t]+\S"
_SURE: Final = rf"(?m)^ {{0,3}}(?:[-*+]|1[.)]) {{1,4}}{_MARK}$"
_REGION: Final = r"```|~~~|%%|\$\$|<[A-Za-z/!?]|\]:|(?m)^[ \t>|:-]*-[ \t>|:-]*\|[ \t>|:-]*$|^[ \t]*=+[ \t]*$"
_TASK: Final = re.compile(_MARK)
_SURE_TASK: Final = re.compile(_SURE)


class Task(NamedTuple):
    """A task: its 0-based line, the mark, the text of its first line, and its block id."""

    row: int
    mark: str
    text: str
    block: str | None


def bodies_with_tasks(bodies: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Two masks over the texts of bodies: those that may have tasks, and those of them that have to be parsed."""
    some = bodies.str.contains(_CANDIDATE)
    chosen = bodies.filter(some)
    counts = chosen.str.count_matches(_CANDIDATE), chosen.str.count_matches(_SURE)
    unsure = (counts[0] != counts[1]) | chosen.str.contains(_REGION)
    return some, some.clone().scatter(some.arg_true(), unsure) if len(chosen) else some


def plain_tasks(body: str) -> Iterator[Task]:
    """The tasks of a body that need not be parsed."""
    row = at = 0
    # row loop: the tasks of one body
    for found in _SURE_TASK.finditer(body):
        row, at = row + body.count("\n", at, found.start()), found.start()
        yield _task(row, found[1], found[2])


def exact_tasks(tokens: Sequence[Token]) -> Iterator[Task]:
    """The tasks of a body by its block structure."""
    # row loop: the block tokens of one body
    for position in range(2, len(tokens)):
        token = tokens[position]
        if token.type != "inline" or tokens[position - 2].type != "list_item_open" or token.map is None:
            continue
        holder = tokens[position - 1]
        if holder.type == "paragraph_open" or (holder.type == "heading_open" and not holder.markup.startswith("#")):
            found = _TASK.match(token.content)
            if found is not None:
                yield _task(token.map[0], found[1], found[2])


def _task(row: int, mark: str, text: str) -> Task:
    block = block_id(text)
    return Task(row, mark, (text if block is None else text[: text.rindex("^")]).rstrip(), block)
