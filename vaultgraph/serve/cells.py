"""One value of a result row as text or as JSON.

Text is for reading and stays unambiguous: a string is quoted only where it could be taken for something else. Nodes
print what identifies them and their short properties; long text is left to queries that name it.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from typing import Any, Final, cast

from vaultgraph.cypher.values import Node, Path, Relationship
from vaultgraph.errors import FileError, QueryError, VaultgraphError

SHORT_CHARS: Final = 80  # a longer property value is left out of a node cell
NODE_CHARS: Final = 240  # the properties of a node cell stop here

HIDDEN: Final = frozenset(
    ("path", "file_path", "id", "concept_id", "title", "stem", "folder", "body", "size_bytes", "mtime")
)
"""Properties that a node cell leaves out: shown already, derived from the path, or long."""

_LOOKS_LIKE_VALUE: Final = re.compile(
    r"""[\[{("]                                       # a list, a map, a node or relationship, a quoted text
    | [+-]?\.?\d[\d.,:_/+\-\ TZWeE]*(\[[\w/+-]*\])?$  # a number, a date, a time and its zone
    | [+-]?0[xob][\da-f_]+$ | [+-]?\.?(inf|infinity|nan)$
    | (true|false|null)$ | [+-]?P[\dT+\-][\dYMWDTHS.+\-]*$
    | [\d,]+\ (more\ )?rows?\b | (warning:|stale\ since|Long\ cells\ were\ cut)  # the lines below the rows of an answer
    """,
    re.IGNORECASE | re.VERBOSE,
)
_UNSEEN: Final = "\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u206f\ufeff"
"""Control characters (a terminal takes U+009B for an escape too), line separators, marks that turn the order of the
characters behind them round, and what has no width, so that a name shows as another. What scripts need (U+200C to
U+200F) stays."""
_MUST_QUOTE: Final = re.compile(f"[{_UNSEEN}\U000e0000-\U000e007f]")
_ESCAPED: Final = re.compile(f"[{_UNSEEN}]|(?<![\U0001f3f4\U000e0020-\U000e007e])[\U000e0000-\U000e007f]+")
"""Of them, what is shown as escapes: the tag characters that make a black flag that of a country stay."""


def text_cell(value: object, most_chars: int | None = None) -> str:
    """``value`` as one cell without tabs or line breaks; cut to ``most_chars`` with its length where it is longer."""
    if isinstance(value, str):
        return _text(value, most_chars)
    shown = _shown(value)
    if most_chars is not None and len(shown) > most_chars:
        return f"{shown[:most_chars]}… ({len(shown):,} characters)"
    return shown


def json_cell(value: object, most_chars: int | None = None) -> Any:
    """``value`` as JSON-ready data; dates as ISO text, a node as labels and properties without long text."""
    match value:
        case str():
            if most_chars is not None and len(value) > most_chars:
                return f"{value[:most_chars]}… ({len(value):,} characters)"
            return value
        case float() if not math.isfinite(value):
            return _number(value)
        case None | bool() | int() | float():
            return value
        case Node():
            properties = {key: json_cell(item, most_chars) for key, item in value.properties.items() if key != "body"}
            return {"labels": list(value.labels), "properties": properties}
        case Relationship():
            return {"type": value.type, "properties": json_cell(value.properties, most_chars)}
        case Path():
            return {
                "nodes": [json_cell(node, most_chars) for node in value.nodes],
                "relationships": [json_cell(relationship, most_chars) for relationship in value.relationships],
            }
        case _:
            return _json_container(value, most_chars)


def csv_cell(value: object, most_chars: int | None = None) -> str:
    """``value`` as the content of a CSV field: strings as they are, null as nothing, lists and maps as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return cast("str", json_cell(value, most_chars))
    if isinstance(value, list | tuple | dict):
        return compact_json(json_cell(cast("object", value), most_chars))
    return text_cell(value, most_chars)


def compact_json(data: Any) -> str:
    """JSON without spaces, other scripts kept as they are."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def one_line(text: str) -> str:
    """``text`` without line breaks, control and invisible characters: they are shown as JSON escapes.

    Every name that comes from a vault passes here on its way into a line of text: paths, labels, types, keys.
    """
    return _ESCAPED.sub(lambda found: _quoted(found[0])[1:-1], text) if _MUST_QUOTE.search(text) else text


def plain_text(text: str) -> str:
    """``text`` of several lines, such as a message that quotes a name, without control characters in its lines."""
    return "\n".join(one_line(line) for line in text.split("\n"))


def error_text(error: VaultgraphError) -> str:
    """The message of ``error``: of lines only those that show where a fault is, as a name in it may have breaks."""
    if isinstance(error, FileError):
        return one_line(error.message)
    if isinstance(error, QueryError):
        return one_line(error.reason) + plain_text(error.message.removeprefix(error.reason))
    return plain_text(error.message)


def heading(name: str) -> str:
    """A column's name as the head of a column; the query that it is written in may have line breaks."""
    return one_line(" ".join(name.split()) if any(mark in name for mark in "\t\r\n") else name)


def counted(count: int, one: str, many: str | None = None) -> str:
    """``count`` with its noun: "1 note", "2,000 notes"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def node_key(node: Node) -> str:
    """What names a node: its path, else its id."""
    path = node.properties.get("path")  # a part of a note has its headings there, as a list
    key = path if isinstance(path, str) else node.properties.get("id")
    return "" if key is None else str(key)


def _text(value: str, most_chars: int | None) -> str:
    if most_chars is not None and len(value) > most_chars:
        return f"{_quoted(value[:most_chars])}… ({len(value):,} characters)"
    if not value or value != value.strip() or _LOOKS_LIKE_VALUE.match(value) or _MUST_QUOTE.search(value):
        return _quoted(value)
    return value


def _quoted(value: str) -> str:
    # JSON itself leaves those from U+007F on as they are
    return _ESCAPED.sub(lambda found: _json_escapes(found[0]), json.dumps(value, ensure_ascii=False))


def _json_escapes(chars: str) -> str:
    return "\\u007f" if chars == "\x7f" else json.dumps(chars)[1:-1]


def _shown(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _number(value)
        case datetime() | date() | time():
            return _moment(value)
        case Node():
            return _node(value)
        case Relationship():
            return _relationship(value)
        case Path():
            return _path(value)
        case list() | tuple():
            return "[" + ", ".join(_inner(item) for item in cast("Iterable[object]", value)) + "]"
        case dict():
            return _map(cast("Mapping[str, object]", value).items())
        case _:
            return str(value)


def _inner(value: object) -> str:
    """A value inside a list or map: strings always quoted."""
    return _quoted(value) if isinstance(value, str) else _shown(value)


def _map(entries: Iterable[tuple[str, object]]) -> str:
    return "{" + ", ".join(f"{one_line(key)}: {_inner(item)}" for key, item in entries) + "}"


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")


def _moment(value: date | datetime | time) -> str:
    return value.isoformat().replace("+00:00", "Z")


def _node(node: Node) -> str:
    key, title = node_key(node), node.properties.get("title")
    head = "(" + "".join(f":{one_line(label)}" for label in node.labels)
    if key:
        head += f" {key if _is_plain(key) else _quoted(key)}"
    if isinstance(title, str) and title not in (key, _file_name(key)):
        head += f" {_quoted(title if len(title) <= SHORT_CHARS else title[: SHORT_CHARS - 1] + '…')}"
    rest = {key: value for key, value in node.properties.items() if key != "type" or value not in node.labels}
    shown = _short_properties(rest)
    return f"{head} {shown})" if shown else f"{head})"


def _file_name(key: str) -> str:
    """What a file is called, without folder and suffix: a title that says the same is not said again."""
    name = key.rsplit("/", 1)[-1]
    return name.rpartition(".")[0] or name


def _is_plain(key: str) -> bool:
    return not any(mark in key for mark in " \t\"'(){}") and not _MUST_QUOTE.search(key)


def _short_properties(properties: Mapping[str, object]) -> str:
    """The map of the properties worth a cell, in order, within NODE_CHARS; empty where there are none."""
    entries: list[str] = []
    used = 0
    has_more = False
    identifier = properties.get("id")
    for key, value in properties.items():
        is_own_id = key == "id" and identifier not in (properties.get("path"), properties.get("stem"), None)
        if value is None or (key in HIDDEN and not (is_own_id and "path" in properties)):
            continue
        entry = f"{one_line(key)}: {_inner(value)}"
        if len(entry) > SHORT_CHARS + len(key) or used + len(entry) > NODE_CHARS:
            has_more = True
            continue
        entries.append(entry)
        used += len(entry) + 2
    if has_more:
        entries.append("…")
    return "{" + ", ".join(entries) + "}" if entries else ""


def _relationship(relationship: Relationship) -> str:
    shown = _short_properties(relationship.properties)
    head = f"[:{one_line(relationship.type)}"
    return f"{head} {shown}]" if shown else f"{head}]"


def _path(path: Path) -> str:
    text = _node(path.nodes[0]) if path.nodes else ""
    for relationship, before, after in zip(path.relationships, path.nodes, path.nodes[1:], strict=False):
        forward = relationship.source == before.id
        text += ("-" if forward else "<-") + _relationship(relationship) + ("->" if forward else "-") + _node(after)
    return text


def _json_container(value: object, most_chars: int | None) -> Any:
    match value:
        case datetime() | date() | time():
            return _moment(value)
        case list() | tuple():
            return [json_cell(item, most_chars) for item in cast("Iterable[object]", value)]
        case dict():
            return {str(key): json_cell(item, most_chars) for key, item in cast("dict[object, object]", value).items()}
        case _:
            return str(value)
