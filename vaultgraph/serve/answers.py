"""What an operation answers: content parts, structure where it was asked for, and whether it is an error.

A plain value between serve/operations and the transports; knows nothing of MCP and nothing of budgets.
"""

from typing import Any

from vaultgraph.frozen import frozen


@frozen
class TextPart:
    """Text for the caller."""

    text: str


@frozen
class ImagePart:
    """The bytes of one image and what they are, by header."""

    data: bytes
    mime: str


Part = TextPart | ImagePart


@frozen
class Answer:
    """``structured`` is a JSON object, only where structure was asked for; the text then holds one line about it."""

    parts: tuple[Part, ...]
    structured: dict[str, Any] | None = None
    is_error: bool = False

    @property
    def text(self) -> str:
        """All text parts, a line break between them."""
        return "\n".join(part.text for part in self.parts if isinstance(part, TextPart))


def text_answer(text: str, *, is_error: bool = False) -> Answer:
    """An answer of one text part."""
    return Answer((TextPart(text),), is_error=is_error)
