"""Splitting a note into frontmatter and body, and the frontmatter's YAML into a node tree.

First step of reading a note; `tree` turns the nodes into cells. YAML 1.2 core rules decide what a plain scalar is
(`yes` and `off` are text), plus the date forms of Obsidian. The tree is composed by libyaml and never constructed into
Python objects, so that every key keeps its line and its spelling. Nothing here knows what a key means.
"""

import re
from collections.abc import Hashable
from datetime import date
from typing import Any, Final

import yaml
from frontmatter.default_handlers import BaseHandler
from yaml.cyaml import CSafeLoader

# the node tree, for those who walk it
ScalarNode = yaml.ScalarNode
SequenceNode = yaml.SequenceNode
MappingNode = yaml.MappingNode

MOST_CHARS: Final = 1_000_000  # a longer frontmatter is refused: no note states that much by hand

TEXT: Final = "text"
NULL: Final = "null"
BOOLEAN: Final = "boolean"
INTEGER: Final = "integer"
FLOAT: Final = "float"
DATE: Final = "date"
DATETIME: Final = "datetime"

_OPEN: Final = re.compile(r"---[ \t]*(?:\r\n|\n|\r)")
_CLOSE: Final = re.compile(r"---[ \t]*(?:\r\n|\n|\r|\Z)")
_RETURNS: Final = re.compile(r"\r\n|\r|\n")
MAY_BE_TYPED: Final = frozenset("0123456789+-.tTfFnN~")
"""The first characters of all unquoted scalars that are not text."""
_WORDS: Final = {
    **dict.fromkeys(("null", "Null", "NULL", "~"), NULL),
    **dict.fromkeys(("true", "True", "TRUE", "false", "False", "FALSE"), BOOLEAN),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), FLOAT),
    **{f"{sign}{word}": FLOAT for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
DATETIME_PARTS: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_LF: Final = 10
_TAG_KINDS: Final = {f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null", "timestamp")}
_PAIRS: Final = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_FORMER_ENDS: Final = (
    "\x85\u2028\u2029"  # ended lines in YAML 1.1, as they do for libyaml; characters like others in 1.2
)
_UNASSIGNED: Final = range(0xF0000, 0x10FFFE)  # characters that stand for these meanwhile
_TEMPLATE: Final = re.compile(
    r"(?m)^([ \t]*(?:- )?[^\s:#{}\[\]'\"][^:\n]*:[ \t]+|[ \t]*-[ \t]+)(\{\{[^\n]*\}\}[^\n]*)$"
)


class FrontmatterError(Exception):
    """The frontmatter cannot be used; ``line`` is the 1-based line of the file, ``severity`` how bad that is."""

    def __init__(self, line: int, reason: str, severity: str = "error") -> None:
        super().__init__(reason)
        self.line, self.reason, self.severity = line, reason, severity


class _NoteHandler(BaseHandler):
    """The `---` fences of a note: only at the first character, and exactly three dashes."""

    FM_BOUNDARY = _OPEN
    START_DELIMITER = END_DELIMITER = "---"

    def split(self, text: str) -> tuple[str, str]:
        """YAML text and body, both verbatim; the whole text is the body where no closing fence follows."""
        opened = _OPEN.match(text)
        if opened is None:
            return "", text
        at = opened.end()
        # row loop: candidates for the closing fence, each once
        while at >= 0:
            closed = _CLOSE.match(text, at)
            if closed is not None:
                return text[opened.end() : at], text[closed.end() :]
            at = _next_fence(text, at)
        return "", text


def front_of(data: bytes) -> tuple[str, int, int]:
    """The YAML text of a note without BOM (UTF-8), its line ends LF; the byte at which the body starts; lines before.

    The text is empty where there is no frontmatter or it says nothing.
    """
    if not data.startswith(b"---"):
        return "", 0, 0
    end = data.find(b"\n---", 3)
    # Nearly every note has it this way; whatever else may close the frontmatter goes the long way.
    if end >= 0 and data[3] == _LF and data[end + 4 : end + 5] == b"\n" and data.find(b"\r", 0, end) < 0:
        source = data[4 : end + 1].decode()
        return source, end + 5, source.count("\n") + 2
    text = data.decode()
    source, body = _HANDLER.split(text)
    front = text[: len(text) - len(body)]
    return with_plain_ends(source), len(front.encode()), line_count(front)


def with_plain_ends(text: str) -> str:
    """``text`` with LF for every line end."""
    return text if "\r" not in text else text.replace("\r\n", "\n").replace("\r", "\n")


class _Composer(CSafeLoader):
    """libyaml's parser with YAML 1.2 core scalars; only `get_single_node` is used."""

    def descend_resolver(self, current_node: Any, current_index: Any) -> None:
        """Path resolvers are not used; called for every node."""

    def ascend_resolver(self) -> None:
        """Path resolvers are not used; called for every node."""

    def resolve(self, kind: type[Any], value: Any, implicit: Any) -> Any:
        """The scalar kind, as a constant of this module."""
        if kind is not yaml.ScalarNode:
            return kind.__name__
        if not implicit[0]:
            return TEXT
        return implicit_kind(value)


def compose(source: str) -> tuple[yaml.MappingNode | None, str]:
    """The node tree of a frontmatter's YAML, None where it states nothing, and the text its marks point into.

    Scalar tags are the kinds of this module. A value that is a bare template (``{{date}}``) is read as text.

    Raises: FrontmatterError with the line and the reason.
    """
    if len(source) > MOST_CHARS:
        raise FrontmatterError(1, f"frontmatter of {len(source)} characters; at most {MOST_CHARS} are read")
    root, source = _first_composed(source)
    if root is None or isinstance(root, yaml.MappingNode):
        return root, source
    raise FrontmatterError(2, "the frontmatter is not a map of keys to values", "warning")


def scalar_kind(node: yaml.ScalarNode) -> str:
    """The kind of a scalar, whether it was found or stated by a tag such as ``!!int``."""
    tag = str(node.tag)
    return plain_kind(str(node.value)) if tag in _TAG_KINDS else tag if tag in _KINDS else TEXT


def implicit_kind(value: str) -> str:
    """What an unquoted scalar is, possibly an empty one."""
    if not value:
        return NULL
    return plain_kind(value) if value[0] in MAY_BE_TYPED else TEXT


def plain_kind(value: str) -> str:
    """What an unquoted, non-empty scalar is by the YAML 1.2 core schema, plus dates and datetimes."""
    if len(value) == 10 and _DATE.fullmatch(value):
        return DATE if days_of(value) is not None else TEXT
    word = _WORDS.get(value)
    if word is not None:
        return word
    if _INTEGER.fullmatch(value):
        return INTEGER
    if _FLOAT.fullmatch(value):
        return FLOAT
    return DATETIME if DATETIME_PARTS.fullmatch(value) else TEXT


def days_of(text: str) -> int | None:
    """Days since 1970-01-01 of an ISO date, None where the calendar has no such day."""
    try:
        return date.fromisoformat(text).toordinal() - 719_163
    except ValueError:
        return None


def line_count(text: str) -> int:
    """How many line ends (LF, CRLF or a lone CR) are in ``text``."""
    return text.count("\n") if "\r" not in text else sum(1 for _ in _RETURNS.finditer(text))


_HANDLER: Final = _NoteHandler()
_KINDS: Final[frozenset[Hashable]] = frozenset((TEXT, NULL, BOOLEAN, INTEGER, FLOAT, DATE, DATETIME))


def _first_composed(source: str) -> tuple[Any, str]:
    """The root of the source, and the source, changed where YAML does not allow what is written: two escapes for one
    character, templates."""
    try:
        return _composed(source), source
    except FrontmatterError:
        joined = _PAIRS.sub(_joined_pair, source) if "\\u" in source else source
        quoted = _TEMPLATE.sub(lambda found: f"{found[1]}'{found[2].replace(chr(39), chr(39) * 2)}'", joined)
        if quoted == source:
            raise
    if joined != source:
        try:
            return _composed(joined), joined
        except FrontmatterError:
            if quoted == joined:
                raise
    return _composed(quoted), quoted


def _composed(source: str) -> Any:
    loader = None
    former = _FORMER_ENDS if any(character in source for character in _FORMER_ENDS) else ""
    present = set(source) if former else set[str]()
    replaced = dict(zip(former, (chr(code) for code in _UNASSIGNED if chr(code) not in present), strict=False))
    try:
        loader = _Composer(source.translate(str.maketrans(replaced)) if former else source)
        root = loader.get_single_node()
        if former:
            _put_back(root, str.maketrans({mark: character for character, mark in replaced.items()}))
        return root
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 2 + (mark.line if mark is not None else 0)
        raise FrontmatterError(line, " ".join(filter(None, (error.context, error.problem)))) from None
    except yaml.reader.ReaderError as error:
        line = 2 + line_count(source[: max(error.position, 0)])
        raise FrontmatterError(line, f"{error.reason} (character {error.character!r})") from None
    finally:
        if loader is not None:
            loader.dispose()


def _put_back(root: Any, marks: dict[int, str]) -> None:
    """Puts the characters for which ``marks`` stand into all scalars below ``root``."""
    left, seen = [root], set[int]()
    # row loop: the nodes of one note, each once
    while left:
        node = left.pop()
        if isinstance(node, yaml.ScalarNode):
            node.value = str(node.value).translate(marks)
        elif node is not None and id(node) not in seen:
            seen.add(id(node))
            is_map = isinstance(node, yaml.MappingNode)
            left += [part for pair in node.value for part in pair] if is_map else node.value


def _next_fence(text: str, at: int) -> int:
    """Where the next line starting with `---` begins, -1 where there is none."""
    found = text.find("---", at + 1)
    while found > 0 and text[found - 1] not in "\r\n":
        found = text.find("---", found + 1)
    return found


def _joined_pair(found: re.Match[str]) -> str:
    """JSON writes an emoji as two escapes, YAML as one."""
    high, low = int(found[1], 16), int(found[2], 16)
    return f"\\U{0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00):08X}"
