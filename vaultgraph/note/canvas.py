"""Reading a JSON Canvas file: which files, notes and addresses its cards name, and the Markdown of its text cards.

A leaf of reading; the Markdown of the cards is scanned with the notes' bodies. Groups, colours, positions and the lines
between cards are not read.
"""

import json
from dataclasses import dataclass, field
from typing import Any, cast


class CanvasError(Exception):
    """The file is not a JSON Canvas; ``line`` is the 1-based line that shows it, None where it is the whole."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


@dataclass(frozen=True, slots=True)
class Canvas:
    """Cards in file order, each with its 1-based line of the file (1 where it cannot be told)."""

    files: list[tuple[str, str | None, int]] = field(default_factory=list[tuple[str, str | None, int]])  # path, anchor
    addresses: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    texts: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])


def read_canvas(text: str) -> Canvas:
    """The cards of a canvas.

    Raises: CanvasError with the reason and the line when it is not JSON Canvas.
    """
    canvas = Canvas()
    if not text.strip():
        return canvas  # Obsidian writes an empty file for a canvas without cards
    try:
        document: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise CanvasError(f"{error.msg} (column {error.colno})", error.lineno) from None
    except RecursionError:
        raise CanvasError("nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise CanvasError(str(error)) from None
    nodes: Any = cast("dict[str, Any]", document).get("nodes", []) if isinstance(document, dict) else None
    if not isinstance(nodes, list):
        raise CanvasError("no list of nodes", 1)
    lines = _CardLines(text)
    # row loop: the cards of one canvas
    for node in cast("list[Any]", nodes):
        if isinstance(node, dict):
            _add_card(canvas, cast("dict[str, Any]", node), lines)
    return canvas


class _CardLines:
    """Finds the lines of cards by their ids, which appear in the order of the cards."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at, self._line, self._is_lost = 0, 1, False

    def line_of(self, identifier: object) -> int:
        if self._is_lost or not isinstance(identifier, str):
            return self._line
        at = self._text.find(f'"{identifier}"', self._at)
        if at < 0:
            self._is_lost = True  # one miss ends the search, so that it stays linear
            return self._line
        self._line += self._text.count("\n", self._at, at)
        self._at = at
        return self._line


def _add_card(canvas: Canvas, node: dict[str, Any], lines: _CardLines) -> None:
    line = lines.line_of(node.get("id"))
    kind, name = node.get("type"), {"file": "file", "text": "text", "link": "url"}.get(str(node.get("type")))
    value = node.get(name) if name is not None else None
    if not isinstance(value, str) or not value:
        return
    value = _clean(value)
    if kind == "file":
        anchor = node.get("subpath")
        canvas.files.append((value, _clean(anchor).lstrip("#") or None if isinstance(anchor, str) else None, line))
    elif kind == "text":
        canvas.texts.append((value.replace("\r\n", "\n").replace("\r", "\n"), line))
    else:
        canvas.addresses.append((value, line))


def _clean(text: str) -> str:
    """JSON may hold halves of a surrogate pair, which no UTF-8 text can."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
