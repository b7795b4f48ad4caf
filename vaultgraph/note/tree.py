"""From the YAML node tree of a frontmatter to its cells, for what `flat` leaves to the parser.

Nested maps flatten to dotted keys, lists give one cell an item, null gives none. Aliases of YAML are followed within a
budget, so a small file cannot state a huge table. No key is special here.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from vaultgraph.note.frontmatter import (
    BOOLEAN,
    FLOAT,
    INTEGER,
    NULL,
    TEXT,
    FrontmatterError,
    MappingNode,
    ScalarNode,
    SequenceNode,
    compose,
    scalar_kind,
)
from vaultgraph.note.values import EMPTY_LIST, JSON, TEMPLATE, native

MOST_DEPTH: Final = 64

TreeCell = tuple[str, int, str, str, int]  # key, ordinal, kind, text, line of the key
KeyedScalars = tuple[str, list[tuple[str, str, int]], bool]  # key at the top; kind, text, line of each; is it a list?


@dataclass(slots=True)
class Tree:
    """What one frontmatter states; lines are 1-based lines of the file.

    ``links``: key, text and line of the texts with ``[[``. ``scalars``: what stands directly under the keys at the top.
    """

    cells: list[TreeCell] = field(default_factory=list[TreeCell])
    links: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])
    scalars: list[KeyedScalars] = field(default_factory=list[KeyedScalars])
    most_nodes: int = 0
    nodes: int = 0  # YAML nodes looked at


def read_tree(source: str, most_nodes: int) -> Tree:
    """Everything the YAML text of a frontmatter states; ``most_nodes`` are looked at, aliases counted each time.

    Raises: FrontmatterError for YAML that cannot be used (syntax, a key given twice, too large or too deep).
    """
    root, source = compose(source)
    tree = Tree(most_nodes=most_nodes)
    if root is None:
        return tree
    _add_map(tree, root, "", source, 0)
    # row loop: the keys of one note
    for key, value in root.value:
        is_list = isinstance(value, SequenceNode)
        tree.scalars.append((_key_of(key), _scalars(value.value if is_list else [value]), is_list))
    return tree


def _scalars(nodes: Sequence[Any]) -> list[tuple[str, str, int]]:
    return [(scalar_kind(node), str(node.value), _line(node)) for node in nodes if isinstance(node, ScalarNode)]


def _add_map(tree: Tree, node: MappingNode, prefix: str, source: str, depth: int) -> None:
    seen: set[str] = set()
    _enter(tree, node, depth)
    # row loop: the keys of one map, within the budget
    for key, value in node.value:
        name, line = _key_of(key), _line(key)
        if name in seen:
            raise FrontmatterError(line, f"the key {name!r} is given twice")
        seen.add(name)
        full = prefix + name
        if isinstance(value, ScalarNode):
            _add_scalar(tree, value, full, -1, line)
        elif isinstance(value, SequenceNode):
            _add_list(tree, value, full, line, source, depth + 1)
        elif _is_template(value):
            tree.cells.append((full, -1, TEMPLATE, _verbatim(value, source), line))
        else:
            _add_map(tree, value, full + ".", source, depth + 1)


def _add_list(tree: Tree, node: SequenceNode, key: str, line: int, source: str, depth: int) -> None:
    _enter(tree, node, depth)
    ordinal = 0
    # row loop: the items of one list, within the budget
    for item in node.value:
        if isinstance(item, ScalarNode):
            ordinal += _add_scalar(tree, item, key, ordinal, line)
            continue
        if _is_template(item):
            text, kind = _verbatim(item, source), TEMPLATE
        else:
            value = _plain_value(tree, item, key, line, depth + 1)
            text, kind = json.dumps(value, ensure_ascii=False), JSON
        tree.cells.append((key, ordinal, kind, text, line))
        ordinal += 1
    if ordinal == 0:
        tree.cells.append((key, -1, EMPTY_LIST, "", line))


def _add_scalar(tree: Tree, node: ScalarNode, key: str, ordinal: int, line: int) -> int:
    """Adds one cell; how many were added (none for null)."""
    _count(tree, line)
    kind, text = scalar_kind(node), str(node.value)
    if kind == NULL:
        return 0
    if kind == TEXT and "[[" in text:
        tree.links.append((key, text, _line(node)))
    tree.cells.append((key, ordinal, kind, text, line))
    return 1


def _plain_value(tree: Tree, node: Any, key: str, line: int, depth: int) -> Any:
    """A map or list inside a list as JSON-ready values; the links in it are noted."""
    _enter(tree, node, depth)
    if isinstance(node, MappingNode):
        return {_key_of(name): _plain_value(tree, value, key, line, depth + 1) for name, value in node.value}
    if isinstance(node, SequenceNode):
        return [_plain_value(tree, item, key, line, depth + 1) for item in node.value]
    kind, text = scalar_kind(node), str(node.value)
    if kind == NULL:
        return None
    if "[[" in text:
        tree.links.append((key, text, _line(node)))
    if kind in {BOOLEAN, INTEGER, FLOAT}:
        _, number, real, written = native(kind, text)
        value = bool(number) if kind == BOOLEAN else number if number is not None else real
        return value if value is not None and (real is None or math.isfinite(real)) else written or text
    return text


def _key_of(node: Any) -> str:
    return str(node.value) if isinstance(node, ScalarNode) else "?"


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 2


def _verbatim(node: Any, source: str) -> str:
    return source[node.start_mark.index : node.end_mark.index].strip()


def _is_template(node: Any) -> bool:
    """``{{date}}`` is YAML for a map whose key is a map: nobody means that."""
    return isinstance(node, MappingNode) and len(node.value) == 1 and isinstance(node.value[0][0], MappingNode)


def _enter(tree: Tree, node: Any, depth: int) -> None:
    _count(tree, _line(node))
    if depth > MOST_DEPTH:
        raise FrontmatterError(_line(node), f"nested deeper than {MOST_DEPTH} levels")


def _count(tree: Tree, line: int) -> None:
    tree.nodes += 1
    if tree.nodes > tree.most_nodes:
        raise FrontmatterError(line, f"more than {tree.most_nodes} values")
