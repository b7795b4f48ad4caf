"""From the node tree of a frontmatter to property cells, tags and links.

Second step of reading a note. Nested maps flatten to dotted keys, lists give one cell an item, null gives none. Aliases
of YAML are followed within a budget, so a small file cannot state a huge table. No key is special to the cells; only
`tags`, `title`, `name` and `kg_skip` are looked at, and none of them is removed.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from vaultgraph.note.flat import Scalar, flat_entries
from vaultgraph.note.frontmatter import (
    BOOLEAN,
    DATETIME_PARTS,
    FLOAT,
    INTEGER,
    NULL,
    TEXT,
    FrontmatterError,
    MappingNode,
    ScalarNode,
    SequenceNode,
    compose,
    days_of,
    scalar_kind,
)
from vaultgraph.note.patterns import is_tag_name
from vaultgraph.note.records import ValueKind

MOST_NODES: Final = 100_000  # YAML nodes looked at in one note, aliases counted each time
MOST_DEPTH: Final = 64

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)

_TEXT: Final = int(ValueKind.TEXT)
_LOOKED_AT: Final = frozenset(("tags", "title", "name", "kg_skip"))

Cell = tuple[str, int, int, int | None, float | None, str | None, int]  # key, ordinal, kind, number, real, text, line


@dataclass(slots=True)
class Stated:
    """What one frontmatter states; lines are 1-based lines of the file."""

    cells: list[Cell] = field(default_factory=list[Cell])
    texts: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])  # key, text with [[, line
    tags: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    refused_tags: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    title: str | None = None
    is_skipped: bool = False
    nodes: int = field(default=0, compare=False)  # YAML nodes looked at


def stated_by(source: str) -> Stated:
    """Everything the YAML text of a frontmatter states.

    Raises: FrontmatterError for YAML that cannot be used (syntax, a key given twice, too large or too deep).
    """
    stated, names = Stated(), dict[str, str]()
    entries = flat_entries(source)
    if entries is not None:
        # row loop: the keys of one note
        for key, line, scalar, items in entries:
            if items is None:
                _add_cell(stated, scalar[0], scalar[1], key, -1, line, line)
            else:
                _add_items(stated, key, line, items)
            if key in _LOOKED_AT:
                _look_at(stated, names, key, [scalar] if items is None else items, items is not None)
    else:
        root, source = compose(source)
        if root is not None:
            _add_map(stated, root, "", source, 0)
        # row loop: the keys of one note
        for key, value in root.value if root is not None else ():
            if _key_of(key) in _LOOKED_AT:
                is_list = isinstance(value, SequenceNode)
                _look_at(stated, names, _key_of(key), _scalars(value.value if is_list else [value]), is_list)
    stated.title = names.get("title") or names.get("name") or None
    return stated


def _look_at(stated: Stated, names: dict[str, str], key: str, scalars: Sequence[Scalar], is_list: bool) -> None:
    """The keys reading knows: one tag an entry of `tags`; a title, a name and `kg_skip` are no lists."""
    # row loop: the entries of one key
    for kind, value, line in scalars:
        name = value.strip()
        if key == "tags":
            tag = name.removeprefix("#")
            if kind != NULL and tag:
                (stated.tags if is_tag_name(tag) else stated.refused_tags).append((tag, line))
        elif is_list:
            return
        elif key == "kg_skip":
            stated.is_skipped = kind == BOOLEAN and value[0] in "tT"
        elif kind != NULL:
            names[key] = name


def _scalars(nodes: Sequence[Any]) -> list[Scalar]:
    return [(scalar_kind(node), str(node.value), _line(node)) for node in nodes if isinstance(node, ScalarNode)]


def _add_items(stated: Stated, key: str, line: int, items: Sequence[Scalar]) -> None:
    """A list of scalars from a frontmatter that needed no parser."""
    ordinal = 0
    # row loop: the items of one list
    for kind, text, item_line in items:
        ordinal += _add_cell(stated, kind, text, key, ordinal, line, item_line)
    if ordinal == 0:
        stated.cells.append((key, -1, ValueKind.EMPTY_LIST, None, None, None, line))


def _add_map(stated: Stated, node: MappingNode, prefix: str, source: str, depth: int) -> None:
    seen: set[str] = set()
    _count(stated, node, depth)
    # row loop: the keys of one map, within MOST_NODES
    for key, value in node.value:
        name, line = _key_of(key), _line(key)
        if name in seen:
            raise FrontmatterError(line, f"the key {name!r} is given twice")
        seen.add(name)
        full = prefix + name
        if isinstance(value, ScalarNode):
            _add_scalar(stated, value, full, -1, line)
        elif isinstance(value, SequenceNode):
            _add_list(stated, value, full, line, source, depth + 1)
        elif _is_template(value):
            text = source[value.start_mark.index : value.end_mark.index].strip()
            stated.cells.append((full, -1, ValueKind.TEXT, None, None, text, line))
        else:
            _add_map(stated, value, full + ".", source, depth + 1)


def _add_list(stated: Stated, node: SequenceNode, key: str, line: int, source: str, depth: int) -> None:
    _count(stated, node, depth)
    ordinal = 0
    # row loop: the items of one list, within MOST_NODES
    for item in node.value:
        if isinstance(item, ScalarNode):
            ordinal += _add_scalar(stated, item, key, ordinal, line)
            continue
        if _is_template(item):
            text, kind = source[item.start_mark.index : item.end_mark.index].strip(), ValueKind.TEXT
        else:
            value = _plain_value(stated, item, key, line, depth + 1)
            text, kind = json.dumps(value, ensure_ascii=False), ValueKind.JSON
        stated.cells.append((key, ordinal, kind, None, None, text, line))
        ordinal += 1
    if ordinal == 0:
        stated.cells.append((key, -1, ValueKind.EMPTY_LIST, None, None, None, line))


def _add_scalar(stated: Stated, node: ScalarNode, key: str, ordinal: int, line: int) -> int:
    """Adds one cell; how many were added (none for null)."""
    stated.nodes += 1
    if stated.nodes > MOST_NODES:
        raise FrontmatterError(line, f"more than {MOST_NODES} values")
    return _add_cell(stated, scalar_kind(node), str(node.value), key, ordinal, line, _line(node))


def _add_cell(stated: Stated, kind: str, value: str, key: str, ordinal: int, line: int, own_line: int) -> int:
    if kind == TEXT:
        if "[[" in value:
            stated.texts.append((key, value, own_line))
        stated.cells.append((key, ordinal, _TEXT, None, None, value, line))
        return 1
    if kind == NULL:
        return 0
    stated.cells.append((key, ordinal, *_native(kind, value), line))
    return 1


def _native(kind: str, value: str) -> tuple[int, int | None, float | None, str | None]:
    """Value kind, number, real and text of a scalar that is not null."""
    match kind:
        case "boolean":
            return ValueKind.BOOLEAN, int(value[0] in "tT"), None, None
        case "integer":
            number = _integer(value)
            if number is not None:
                return ValueKind.INTEGER, number, None, None
        case "float":
            return ValueKind.FLOAT, None, _real(value), None
        case "date":
            return ValueKind.DATE, days_of(value), None, None
        case "datetime":
            moment = _moment(value)
            if moment is not None:
                return *moment, None, None
        case _:
            pass
    return ValueKind.TEXT, None, None, value


def _integer(value: str) -> int | None:
    """None where the number does not fit 64 bits."""
    if len(value) > 66:
        return None
    base = {"0o": 8, "0x": 16}.get(value[:2], 10)
    number = int(value, base)
    return number if -(2**63) <= number < 2**63 else None


def _real(value: str) -> float:
    word = value.lower().lstrip("+-")
    if word == ".nan":
        return math.nan
    if word == ".inf":
        return -math.inf if value[0] == "-" else math.inf
    return float(value)


def _moment(value: str) -> tuple[int, int] | None:
    """Value kind and microseconds since 1970; a datetime without a zone counts as if it were UTC."""
    found = DATETIME_PARTS.fullmatch(value)
    if found is None:
        return None
    day, hour, minute, second, fraction, zone = found.groups()
    zone = zone if zone is None or zone == "Z" or ":" in zone else f"{zone[:3]}:{zone[3:]}"
    try:
        moment = datetime.fromisoformat(f"{day}T{hour}:{minute}:{second or '00'}{zone or '+00:00'}")
    except ValueError:
        return None
    micros = int((fraction or "0")[:6].ljust(6, "0"))
    number = (moment - _EPOCH) // _MICROSECOND + micros
    return (ValueKind.LOCAL_DATETIME if zone is None else ValueKind.UTC_DATETIME), number


def _plain_value(stated: Stated, node: Any, key: str, line: int, depth: int) -> Any:
    """A map or list inside a list as JSON-ready values; the links in it are noted."""
    _count(stated, node, depth)
    if isinstance(node, MappingNode):
        return {_key_of(name): _plain_value(stated, value, key, line, depth + 1) for name, value in node.value}
    if isinstance(node, SequenceNode):
        return [_plain_value(stated, item, key, line, depth + 1) for item in node.value]
    kind, value = scalar_kind(node), str(node.value)
    if kind == NULL:
        return None
    if "[[" in value:
        stated.texts.append((key, value, _line(node)))
    if kind in {BOOLEAN, INTEGER, FLOAT}:
        _, number, real, text = _native(kind, value)
        native = bool(number) if kind == BOOLEAN else number if number is not None else real
        return native if native is not None and (real is None or math.isfinite(real)) else text or value
    return value


def _key_of(node: Any) -> str:
    return str(node.value) if isinstance(node, ScalarNode) else "?"


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 2


def _is_template(node: Any) -> bool:
    """``{{date}}`` is YAML for a map whose key is a map: nobody means that."""
    return isinstance(node, MappingNode) and len(node.value) == 1 and isinstance(node.value[0][0], MappingNode)


def _count(stated: Stated, node: Any, depth: int) -> None:
    stated.nodes += 1
    if stated.nodes > MOST_NODES:
        raise FrontmatterError(_line(node), f"more than {MOST_NODES} values")
    if depth > MOST_DEPTH:
        raise FrontmatterError(_line(node), f"nested deeper than {MOST_DEPTH} levels")
