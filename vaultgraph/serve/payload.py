"""Replies within a budget: complete rows or lines up to so many bytes on the wire, then how to get the rest.

Between an operation's full result and its answer. Rows are printed as text, JSON or CSV by serve/cells; what is left
out stays in the session's ResultStore and is read with `expand_response`.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from vaultgraph.errors import ParameterError
from vaultgraph.frozen import frozen
from vaultgraph.serve.answers import Answer, TextPart, text_answer
from vaultgraph.serve.cells import compact_json, csv_cell, heading, json_cell, one_line, text_cell
from vaultgraph.serve.marks import Marks
from vaultgraph.serve.results import Keep
from vaultgraph.serve.rows import Rows

DEFAULT_BYTES: Final = 16 * 1024
LEAST_BYTES: Final = 4096
FULL_BYTES: Final = 8 * 1024 * 1024  # "mode": "full" still ends somewhere
ENVELOPE_BYTES: Final = 600  # kept free for the JSON-RPC envelope, the notes and the last lines
LEAST_CELL_CHARS: Final = 400
CUT_MARK_BYTES: Final = 40
LINE_END_BYTES: Final = 4  # "\\r\\n" inside a JSON string
CHUNK_ROWS: Final = 64

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")  # six bytes each on the wire

Format = Literal["text", "json", "csv"]

RESPONSE_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "mode": {"enum": ["bounded", "full"], "type": "string"},
        "max_bytes": {"type": "integer", "minimum": LEAST_BYTES},
    },
    "additionalProperties": False,
}


def reply_bytes(arguments: Mapping[str, Any]) -> int:
    """The budget a call asks for with ``_response``.

    Raises:
        ParameterError: "full" together with ``max_bytes``.
    """
    wanted: Mapping[str, Any] = arguments.get("_response") or {}
    if wanted.get("mode") == "full":
        if "max_bytes" in wanted:
            raise ParameterError(
                '`_response.mode` "full" has no `max_bytes`: leave one of them out.',
                {"name": "_response", "reason": "conflict"},
            )
        return FULL_BYTES
    return min(int(wanted.get("max_bytes", DEFAULT_BYTES)), FULL_BYTES)


def wire_bytes(text: str) -> int:
    """How many bytes ``text`` takes inside a JSON string in UTF-8."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    size += sum(map(text.count, '"\\\n\t\r'))
    return size + 5 * len(_CONTROLS.findall(text)) if _CONTROLS.search(text) else size


@frozen
class RowPages:
    """A table to be read in parts; an offset is a row number from 0. ``notes`` follow the rows of every part.

    ``marks`` are of the time the query was asked: a later part says the same.
    """

    columns: tuple[str, ...]
    rows: Rows
    format: Format
    marks: Marks
    notes: tuple[str, ...] = ()

    @property
    def generation(self) -> int:
        """Of the graph that the rows refer to."""
        return self.marks.generation

    @property
    def size_bytes(self) -> int:
        """About how much memory the rows hold."""
        return self.rows.size_bytes

    def fits(self, most_bytes: int) -> bool:
        """Whether all rows fit into one answer, uncut."""
        return self._lines(0, self._room(most_bytes), None)[1]

    def csv_lines(self) -> Iterator[str]:
        """The whole table as CSV, line by line with line ends."""
        yield f"{csv_line(list(self.columns))}\r\n"
        for row in self._read(0):
            yield f"{csv_line([csv_cell(value, None) for value in row])}\r\n"

    def page(self, offset: int, most_bytes: int, keep: Keep) -> Answer:
        """The rows from ``offset`` that fit: all of them uncut, or some with their long cells cut."""
        if offset < 0 or (offset >= len(self.rows) and offset > 0):
            raise ParameterError(
                f"`offset` must be a row from 0 to {max(0, len(self.rows) - 1)}, not {offset}.",
                {"name": "offset", "reason": "outside"},
            )
        room = self._room(most_bytes)
        lines, is_whole = self._lines(offset, room, None)
        has_cuts = False
        if not is_whole:
            most_chars = self._most_chars(offset, room)
            lines, _ = self._lines(offset, room, most_chars)
            shown = self.rows.part(offset, offset + len(lines))
            has_cuts = any(self._line(row, None) != line for row, line in zip(shown, lines, strict=True))
        stop = offset + len(lines)
        result_id = keep(stop) if stop < len(self.rows) else None
        notes = (*self._notes(stop, result_id, has_cuts=has_cuts), self._last())
        return (
            self._structured(lines, offset, stop, result_id, has_cuts)
            if self.format == "json"
            else self._printed(lines, notes)
        )

    def _room(self, most_bytes: int) -> int:
        """What is left for rows."""
        return most_bytes - ENVELOPE_BYTES - sum(map(wire_bytes, (*map(one_line, self.notes), *self.marks.stale_lines)))

    def _most_chars(self, offset: int, room: int) -> int:
        """Where to cut cells: an equal share of the room, never so little that a cell says nothing."""
        cells = max(1, len(self.columns))
        share = room // (cells * (len(self.rows) - offset)) - CUT_MARK_BYTES
        most_chars = max(min(LEAST_CELL_CHARS, room // (2 * cells)), share // 2)
        (first,) = self.rows.part(offset, offset + 1)
        while most_chars > 1 and wire_bytes(self._line(first, most_chars)) > room:
            most_chars //= 2
        return most_chars

    def _lines(self, offset: int, room: int, most_chars: int | None) -> tuple[list[str], bool]:
        """Complete rows within ``room`` bytes (one at least), and whether they are all that is left."""
        lines: list[str] = []
        used = sum(map(wire_bytes, self.columns)) + 2 * len(self.columns)
        for row in self._read(offset):
            line = self._line(row, most_chars)
            used += wire_bytes(line) + LINE_END_BYTES
            if used > room and (lines or most_chars is None):
                return lines, False
            lines.append(line)
        return lines, True

    def _read(self, offset: int) -> Iterator[tuple[object, ...]]:
        for first in range(offset, len(self.rows), CHUNK_ROWS):
            yield from self.rows.part(first, first + CHUNK_ROWS)

    def _line(self, row: tuple[object, ...], most_chars: int | None) -> str:
        match self.format:
            case "text":
                return "\t".join([text_cell(value, most_chars) for value in row])
            case "csv":
                return csv_line([csv_cell(value, most_chars) for value in row])
            case "json":
                return compact_json([json_cell(value, most_chars) for value in row])

    def _notes(self, stop: int, result_id: str | None, *, has_cuts: bool) -> list[str]:
        """The lines between the rows and the last line."""
        notes: list[str] = []
        left = len(self.rows) - stop
        if has_cuts:
            notes.append('Long cells were cut; _response {"mode": "full"} gives them whole.')
        if left and result_id:
            notes.append(f'{left:,} more {_rows(left)}: expand_response(result_id="{result_id}", offset={stop})')
        elif left:
            notes.append(f"{left:,} more {_rows(left)}, too many to keep: ask again with SKIP {stop}, or for less.")
        return [*notes, *map(one_line, self.notes), *self.marks.stale_lines]

    def _last(self) -> str:
        return f"{len(self.rows):,} {_rows(len(self.rows))} · {self.marks.line}"

    def _printed(self, lines: list[str], notes: Sequence[str]) -> Answer:
        if self.format == "text":
            return text_answer("\n".join(["\t".join(map(heading, self.columns)), *lines, *notes]))
        table = "".join(f"{line}\r\n" for line in (csv_line(list(self.columns)), *lines))
        return Answer((TextPart(table), TextPart("\n".join(notes))))

    def _structured(self, lines: list[str], offset: int, stop: int, result_id: str | None, has_cuts: bool) -> Answer:
        data: dict[str, Any] = {
            "columns": list(self.columns),
            "rows": [json.loads(line) for line in lines],
            "row_count": len(self.rows),
            **self.marks.data,
        }
        if offset:
            data["offset"] = offset
        if stop < len(self.rows):
            call = {"tool": "expand_response", "arguments": {"result_id": result_id, "offset": stop}}
            data["next"] = call if result_id else f"too many rows to keep: ask again with SKIP {stop}"
        if has_cuts:
            data["has_cut_cells"] = True
        if self.notes:
            data["notes"] = list(self.notes)
        return Answer((TextPart(self._last()),), structured=data)


@frozen
class TextPages:
    """Long text to be read in parts that end at a line break; an offset is a character number from 0."""

    text: str
    generation: None = None

    @property
    def size_bytes(self) -> int:
        """UTF-8 bytes, roughly."""
        return len(self.text) * (1 if self.text.isascii() else 3)

    def page(self, offset: int, most_bytes: int, keep: Keep) -> Answer:
        """The text from ``offset`` up to the budget, then how much is left."""
        if offset < 0 or offset > len(self.text):
            raise ParameterError(
                f"`offset` must be a character from 0 to {len(self.text)}, not {offset}.",
                {"name": "offset", "reason": "outside"},
            )
        part = fitting(self.text[offset : offset + most_bytes], most_bytes - ENVELOPE_BYTES)
        stop = offset + len(part)
        left = len(self.text) - stop
        if not left:
            return text_answer(part)
        result_id = keep(stop)
        more = f'{left:,} more characters: expand_response(result_id="{result_id}", offset={stop})'
        if result_id is None:
            more = f"{left:,} more characters, too many to keep: ask for less."
        return text_answer(f"{part.rstrip(chr(10))}\n{more}")


def fitting(text: str, most_bytes: int) -> str:
    """The longest start of ``text`` within ``most_bytes`` on the wire, ending after a line break where there is one."""
    if wire_bytes(text) <= most_bytes:
        return text
    low, high = 0, min(len(text), most_bytes)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if wire_bytes(text[:middle]) <= most_bytes else (low, middle - 1)
    line_end = text.rfind("\n", 0, low) + 1
    return text[: line_end or low]


def csv_line(fields: list[str]) -> str:
    """One CSV record without its line end, quoted as RFC 4180 asks."""
    target = io.StringIO()
    csv.writer(target, lineterminator="\r\n").writerow(fields)  # without them the writer quotes no line breaks
    return target.getvalue().removesuffix("\r\n")


def _rows(count: int) -> str:
    return "row" if count == 1 else "rows"
