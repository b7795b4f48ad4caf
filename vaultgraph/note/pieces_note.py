"""The pieces of one note: its sections, and what the readers of each kind find in its blocks.

Between `pieces`, which has the bodies of a batch, and the modules of the kinds. Says in which section a piece lies and
how it is named; what a block is and says is not decided here.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import polars as pl
from markdown_it.token import Token

from vaultgraph.note.pieces_blocks import block_id, trimmed
from vaultgraph.note.pieces_chunks import Limits, chunks_of, leaf_blocks
from vaultgraph.note.pieces_lists import OrderedList, lists_of
from vaultgraph.note.pieces_marked import callouts_of, fences_of
from vaultgraph.note.pieces_outline import Fragments, Heading, Outline, outline_of
from vaultgraph.note.pieces_rows import Fault, NotePieces, Piece
from vaultgraph.note.pieces_tables import add_rows, add_targets, tables_of
from vaultgraph.note.records import PieceKind
from vaultgraph.note.tasks import Task
from vaultgraph.profile.settings import Chunks, CodeFences, OrderedLists, Structure, TableRule


@dataclass(frozen=True, slots=True)
class Matches:
    """Which headings the patterns of the rules match: ``lists`` None where lists need no heading."""

    lists: frozenset[str] | None
    tables: Sequence[frozenset[str]]

    def takes_list(self, headings: Sequence[Heading], position: int) -> bool:
        """Whether ordered lists below the heading at ``position`` (-1: above the first) are read."""
        return self.lists is None or (position >= 0 and headings[position].title in self.lists)

    def table_rule(self, headings: Sequence[Heading], position: int) -> int:
        """The position of the first rule for tables below the heading at ``position``, -1 where none is."""
        if position < 0:
            return -1
        title = headings[position].title
        return next((number for number, titles in enumerate(self.tables) if title in titles), -1)


def matches_of(titles: pl.Series, structure: Structure) -> Matches:
    """Which of the distinct headings ``titles`` each pattern finds; a pattern that is none finds nothing."""

    def matching(pattern: str) -> frozenset[str]:
        return frozenset(titles.filter(titles.str.contains(pattern, strict=False).fill_null(False)).to_list())

    lists = structure.ordered_lists
    pattern = lists.under_heading if lists is not None else None
    return Matches(
        matching(pattern) if pattern is not None else None, [matching(rule.under_heading) for rule in structure.tables]
    )


def pieces_of(
    body: str,
    tokens: Sequence[Token],
    headings: Sequence[tuple[int, int, str]],
    structure: Structure,
    matches: Matches,
    tasks: Iterable[Task],
) -> NotePieces:
    """The pieces of one ``body`` (line ends LF).

    ``tokens``: its blocks, tables among them; none where ``structure`` declares nothing. ``headings``: 0-based line of
    the body, level and text of each. ``tasks``: its tasks, where they are declared.
    """
    lines = body.split("\n") if tokens else []
    fragments = Fragments()
    outline = outline_of(list(_headings(tokens, headings)), len(lines), fragments)
    has_sections = structure.sections is not None or structure.key_from_heading is not None
    found = NotePieces(outline, fragments, has_sections)
    if has_sections:
        _add_sections(found, lines, structure.sections is not None)
    if structure.chunks is not None:
        _add_chunks(found, tokens, lines, structure.chunks)
    if structure.callouts is not None:
        _add_callouts(found, tokens, lines)
    if structure.code_fences is not None:
        _add_fences(found, tokens, structure.code_fences)
    if structure.ordered_lists is not None:
        _add_lists(found, tokens, lines, structure.ordered_lists, matches)
    if structure.tables:
        _add_tables(found, tokens, structure.tables, matches)
    _add_tasks(found, tasks)
    return found


def _headings(tokens: Sequence[Token], headings: Sequence[tuple[int, int, str]]) -> Iterator[Heading]:
    """The headings with the lines they take: one, unless they are underlined."""
    ends = {
        token.map[0]: token.map[1]
        for token in tokens
        if token.type == "heading_open" and token.level == 0 and token.map is not None
    }
    for row, level, text in headings:
        yield Heading(row, ends.get(row, row + 1), level, text)


def _add_sections(found: NotePieces, lines: Sequence[str], reports: bool) -> None:
    outline = found.outline
    # row loop: the headings of one body
    for position, heading in enumerate(outline.headings):
        if not found.has_room(heading.row):
            return
        found.add(
            Piece(
                PieceKind.SECTION,
                heading.row,
                outline.fragments[position],
                outline.above[position],
                level=heading.level,
                title=heading.title,
                text=trimmed(lines[heading.end : outline.ends[position]]),
                block=block_id(heading.title),
            )
        )
    for position in outline.repeated if reports else ():
        message = (
            f"another heading has the path {_path(outline, position)} already, and links find that one; "
            f"to link to this one, give a paragraph below it a block id (its own id ends in "
            f"{outline.fragments[position]!r})"
        )
        found.faults.append(Fault(outline.headings[position].row, "duplicate-heading", "info", message))


def _path(outline: Outline, position: int) -> str:
    titles: list[str] = []
    # row loop: the headings around one, at most six
    while position >= 0:
        titles.append(outline.headings[position].title)
        position = outline.above[position]
    return repr(" > ".join(reversed(titles)))


def _add_chunks(found: NotePieces, tokens: Sequence[Token], lines: Sequence[str], rule: Chunks) -> None:
    limits = Limits(rule.max_words, rule.max_chars)
    split = 0
    first = 0
    before = -1
    # row loop: the chunks of one body
    for chunk in chunks_of(leaf_blocks(tokens, lines), found.outline, lines, limits):
        if not found.has_room(chunk.row):
            return
        fragment = found.numbered(chunk.heading, "chunk")  # counts those with a block id too
        if chunk.block is not None:
            fragment = f"#^{chunk.block}"
        digest = hashlib.sha256(chunk.text.encode()).hexdigest()
        found.add(
            Piece(
                PieceKind.CHUNK,
                chunk.row,
                fragment,
                chunk.heading,
                text=chunk.text,
                block=chunk.block,
                hash=digest,
            )
        )
        if chunk.split >= 0 and chunk.split != before:
            split, first, before = split + 1, first if split else chunk.row, chunk.split
    if split:
        blocks = "a block is" if split == 1 else f"{split} blocks are"
        message = f"{blocks} longer than a chunk may be and had to be split"
        found.faults.append(Fault(first, "split-block", "info", message))


def _add_callouts(found: NotePieces, tokens: Sequence[Token], lines: Sequence[str]) -> None:
    # row loop: the callouts of one body
    for callout in callouts_of(tokens, lines):
        if not found.has_room(callout.row):
            return
        heading = found.outline.position(callout.row)
        found.add(
            Piece(
                PieceKind.CALLOUT,
                callout.row,
                found.numbered(heading, "callout"),
                heading,
                title=callout.title,
                text=callout.text,
                word=callout.kind,
                fold=callout.fold,
                block=callout.block,
            )
        )


def _add_fences(found: NotePieces, tokens: Sequence[Token], rule: CodeFences) -> None:
    # row loop: the fences of one body
    for fence in fences_of(tokens, rule.langs):
        if not found.has_room(fence.row):
            return
        heading = found.outline.position(fence.row)
        found.add(
            Piece(
                PieceKind.FENCE,
                fence.row,
                found.numbered(heading, "example"),
                heading,
                title=fence.caption,
                text=fence.code,
                word=fence.language,
                block=fence.block,
            )
        )


def _add_lists(
    found: NotePieces, tokens: Sequence[Token], lines: Sequence[str], rule: OrderedLists, matches: Matches
) -> None:
    outline = found.outline
    # row loop: the lists of one body
    for top in lists_of(tokens, lines):
        heading = outline.position(top.start)
        if len(top.steps) < rule.min_items or not matches.takes_list(outline.headings, heading):
            continue
        if not found.has_room(top.start):
            return
        fragment = found.numbered(heading, "list")
        size, block = len(top.steps), top.block
        number = found.add(Piece(PieceKind.LIST, top.start, fragment, heading, size=size, block=block))
        _add_steps(found, [top], number, 0)


def _add_steps(found: NotePieces, lists: Sequence[OrderedList], holder: int, level: int) -> None:
    """Adds the steps of lists that hang on one piece; as deep as lists are read."""
    outer = found.pieces[holder]
    steps = (step for some in lists for step in some.steps)
    # row loop: the steps of one list
    for count, step in enumerate(steps, 1):
        row = step.container.start
        if not found.has_room(row):
            return
        text = step.text()
        piece = Piece(
            PieceKind.STEP,
            row,
            f"{outer.fragment}~step{count}",
            outer.heading,
            holder,
            level=level,
            text=text,
            block=block_id(text.partition("\n\n")[0]),
        )
        _add_steps(found, step.lists, found.add(piece), level + 1)


def _add_tables(found: NotePieces, tokens: Sequence[Token], rules: Sequence[TableRule], matches: Matches) -> None:
    # row loop: the tables of one body
    for table in tables_of(tokens):
        number = matches.table_rule(found.outline.headings, found.outline.position(table.row))
        if number >= 0:
            (add_targets if rules[number].edges else add_rows)(found, table, rules[number], number)


def _add_tasks(found: NotePieces, tasks: Iterable[Task]) -> None:
    # row loop: the tasks of one body
    for task in tasks:
        if not found.has_room(task.row):
            return
        heading = found.outline.position(task.row)
        fragment = found.numbered(heading, "task")
        found.add(Piece(PieceKind.TASK, task.row, fragment, heading, text=task.text, word=task.mark, block=task.block))
