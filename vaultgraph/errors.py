"""Every error vaultgraph raises on purpose, as one tree with wire codes.

    VaultgraphError(code, message, data)
    ├── SettingsError            settings       a flag, an environment variable or a folder that cannot be used
    │   └── ProfileError         profile        `.kglite/vault.yaml` or `vaultgraph.yaml` is refused (file, line, key)
    ├── FileError                file           a file of the vault cannot be given
    │   ├── PathEscapeError      path_escape    the path leaves the vault or names what is never served
    │   ├── MissingFileError     not_found      nothing is there; `data["nearest"]` names what is
    │   ├── TooLargeError        too_large      over a byte or pixel cap
    │   └── ImageError           image          not an image that can be delivered
    ├── KglError                 kgl            a `.kgl` file cannot be used
    │   ├── ForeignKglError      kgl_foreign    not written by vaultgraph: never overwritten
    │   ├── KglVersionError      kgl_version    another format version: rebuilt
    │   └── CorruptKglError      kgl_corrupt    truncated or damaged: rebuilt
    ├── QueryError               query          carries the text and a span of it
    │   ├── QuerySyntaxError     syntax
    │   ├── BindError            bind           an unknown or misused name
    │   ├── UnsupportedError     unsupported    right Cypher that this version does not run
    │   ├── ReadOnlyError        read_only      a statement that writes
    │   ├── EvaluationError      evaluation     a value of the wrong kind while running
    │   └── BudgetError          budget         deadline, row or memory cap, or cancelled
    ├── BuildError               build          the graph cannot be built or refreshed at all
    ├── ExportError              export         an export cannot be made or written; nothing of others was touched
    └── RequestError             request
        ├── UnknownOperationError unknown_operation
        └── ParameterError       parameter      an argument of the wrong name or kind

A message says what is wrong, where, and what to do next, in words the caller can act on. A faulty note is never an
error: it is a row of the problems table.
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class VaultgraphError(Exception):
    """Root of the tree.

    ``code`` is the stable wire name of the class, ``message`` one text for a person or an agent, ``data`` JSON-ready
    details.
    """

    code: ClassVar[str] = "error"

    def __init__(self, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.data: dict[str, Any] = dict(data or {})


class SettingsError(VaultgraphError):
    """A flag, an environment variable or a folder that cannot be used."""

    code = "settings"


class ProfileError(SettingsError):
    """A configuration file of the vault is refused. ``data``: file, line, key."""

    code = "profile"


class FileError(VaultgraphError):
    """A file of the vault cannot be given."""

    code = "file"


class PathEscapeError(FileError):
    """The path leaves the vault or names something that is never served; the message names the rule."""

    code = "path_escape"


class MissingFileError(FileError):
    """No such file or folder. ``data["nearest"]``: up to three paths that exist."""

    code = "not_found"


class TooLargeError(FileError):
    """Over a cap of bytes or pixels."""

    code = "too_large"


class ImageError(FileError):
    """The file is not an image that can be delivered."""

    code = "image"


class KglError(VaultgraphError):
    """A ``.kgl`` file cannot be used."""

    code = "kgl"


class ForeignKglError(KglError):
    """The file has another program's magic: it is never overwritten."""

    code = "kgl_foreign"


class KglVersionError(KglError):
    """Written by another version of the format."""

    code = "kgl_version"


class CorruptKglError(KglError):
    """Truncated, damaged or inconsistent."""

    code = "kgl_corrupt"


class QueryError(VaultgraphError):
    """A query cannot be answered.

    ``text`` is the query, ``start`` and ``end`` 0-based half-open character offsets of the part at fault;
    ``suggestion`` the nearest right name, where there is one. ``str()`` gives line, column, the line and a caret.
    """

    code = "query"

    def __init__(
        self, reason: str, text: str = "", start: int = 0, end: int = 0, suggestion: str | None = None
    ) -> None:
        self.reason, self.text, self.start, self.end, self.suggestion = reason, text, start, end, suggestion
        line, column, shown = _locate(text, start, end)
        advice = f" Did you mean {suggestion}?" if suggestion else ""
        place = f" (line {line}, column {column})\n{shown}" if text else ""
        data: dict[str, Any] = {"line": line, "column": column, "start": start, "end": end} if text else {}
        if suggestion:
            data["suggestion"] = suggestion
        super().__init__(f"{reason}{advice}{place}", data)


class QuerySyntaxError(QueryError):
    """The text is not Cypher."""

    code = "syntax"


class BindError(QueryError):
    """A name is unknown, defined twice or used for the wrong kind of thing."""

    code = "bind"


class UnsupportedError(QueryError):
    """Right Cypher that this version does not run."""

    code = "unsupported"


class ReadOnlyError(QueryError):
    """A statement that writes: notes are changed by editing files, never by a query."""

    code = "read_only"


class EvaluationError(QueryError):
    """A value of the wrong kind, an overflow or a division by zero while running."""

    code = "evaluation"


class BudgetError(QueryError):
    """The deadline or a row or memory cap was reached, or the caller cancelled."""

    code = "budget"


class BuildError(VaultgraphError):
    """The graph cannot be built or refreshed at all (the folder is gone, say)."""

    code = "build"


class ExportError(VaultgraphError):
    """An export cannot be made or written. ``data["paths"]``: the files at fault, where there are some."""

    code = "export"


class RequestError(VaultgraphError):
    """A request the server cannot serve."""

    code = "request"


class UnknownOperationError(RequestError):
    """No operation has this name."""

    code = "unknown_operation"


class ParameterError(RequestError):
    """An argument is missing, unknown or of the wrong kind. ``data``: name, reason."""

    code = "parameter"


def _locate(text: str, start: int, end: int) -> tuple[int, int, str]:
    """Line and column (both 1-based) of ``start``, and that line (at most 120 characters of it) over a caret line."""
    start = min(max(start, 0), len(text))
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line = text[line_start : len(text) if line_end < 0 else line_end].replace("\t", " ").rstrip("\r")
    offset = start - line_start
    first = max(0, offset - 60)
    shown = line[first : first + 120]
    width = max(1, min(end - start, len(shown) - (offset - first)))
    return text.count("\n", 0, start) + 1, offset + 1, f"  {shown}\n  {' ' * (offset - first)}{'^' * width}"
