"""A YAML file as nodes that know their line, and readers that refuse a wrong shape.

The only place of the package that touches the YAML library. Scalars follow YAML 1.2 core, so `yes` and a date are text.
A file that is large, nested deeply or multiplied by aliases is refused before anything walks it. It knows shapes, not
the keys of any file; those are in vault_yaml.py and its companions.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, NoReturn, cast

import yaml
from yaml.cyaml import CSafeLoader  # bounds nesting by itself, and is ten times faster than the one in Python

from vaultgraph.errors import ProfileError
from vaultgraph.profile.settings import Scalar

MOST_BYTES: Final = 262_144
MOST_VALUES: Final = 50_000  # keys, values and containers, those behind an alias counted each time
MOST_DEPTH: Final = 50

_INTEGER: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_TRUE: Final = frozenset({"true", "True", "TRUE"})
_FALSE: Final = frozenset({"false", "False", "FALSE"})
_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_MOST_DIGITS: Final = 18
_BASES: Final[Mapping[str, int]] = {"0o": 8, "0x": 16}
_MOST_SHOWN: Final = 60
_STRING_TAG: Final = "tag:yaml.org,2002:str"
_PLAIN_TAG: Final = "plain"


class _Composer(CSafeLoader):
    """libyaml's parser, which leaves it to `Entry` what a plain scalar is: PyYAML's own rules are those of YAML 1.1."""

    def resolve(self, kind: type[Any], value: Any, implicit: Any) -> Any:  # noqa: ARG002 - as the base class calls it
        """The tag of a node without one."""
        if kind is not yaml.ScalarNode:
            return kind.__name__
        return _PLAIN_TAG if implicit[0] else _STRING_TAG


@dataclass(frozen=True, slots=True)
class Entry:
    """One value of a file: ``key`` is its dotted place (``""`` for the whole file), ``line`` 1-based."""

    file: str
    key: str
    line: int
    node: yaml.Node | None

    def refuse(self, reason: str) -> NoReturn:
        """Raise the ProfileError that names the place and says ``reason``."""
        subject = f"`{self.key}` " if self.key else ""
        data = {"file": self.file, "line": self.line, "key": self.key}
        raise ProfileError(f"{self.file}:{self.line}: {subject}{reason}", data)

    @property
    def is_null(self) -> bool:
        """Whether nothing is written here."""
        return self.node is None or self._kind == "nothing"

    def mapping(self) -> dict[str, "Entry"]:
        """The entries of a mapping, by key, in order; nothing written is an empty one."""
        if self.is_null:
            return {}
        if not isinstance(self.node, yaml.MappingNode):
            self.refuse(f"must be a mapping, not {self._shown_kind}.")
        entries: dict[str, Entry] = {}
        pairs = cast("Sequence[tuple[yaml.Node, yaml.Node]]", self.node.value)
        for key_node, value_node in pairs:
            line = _line(key_node)
            if not isinstance(key_node, yaml.ScalarNode):
                Entry(self.file, self.key, line, key_node).refuse("has a key that is not text.")
            name = str(key_node.value)
            place = f"{self.key}.{shown(name)}" if self.key else shown(name)
            entry = Entry(self.file, place, line, value_node)
            if name in entries:
                entry.refuse("is written twice. Keep one of them.")
            entries[name] = entry
        return entries

    def record(self, accepted: Sequence[str]) -> dict[str, "Entry"]:
        """A mapping whose keys are all among ``accepted``."""
        entries = self.mapping()
        for name, entry in entries.items():
            if name not in accepted:
                close = get_close_matches(name.casefold(), accepted, n=1, cutoff=0.75)
                advice = f"Did you mean `{close[0]}`? " if close else ""
                entry.refuse(f"is not a known key. {advice}Accepted here: {', '.join(accepted)}.")
        return entries

    def stated(self, accepted: Sequence[str]) -> dict[str, "Entry"]:
        """A ``record`` without the keys that have nothing written."""
        return {name: entry for name, entry in self.record(accepted).items() if not entry.is_null}

    def named(self) -> dict[str, "Entry"]:
        """A mapping whose keys are names: not empty, in one line. Blanks around a key go."""
        entries: dict[str, Entry] = {}
        for written, entry in self.mapping().items():
            if (wrong := wrong_name(written.strip())) is not None:
                entry.refuse(f"is a key that {wrong}.")
            if written.strip() in entries:
                entry.refuse("is written twice. Keep one of them.")
            entries[written.strip()] = entry
        return entries

    def string(self) -> str:
        """A string as it is written, which may be empty."""
        if self._kind != "a string":
            advice = " Put it in quotes to mean text." if isinstance(self.node, yaml.ScalarNode) else ""
            self.refuse(f"must be a string, not {self._shown_kind}.{advice}")
        return str(cast("yaml.ScalarNode", self.node).value)

    def text(self) -> str:
        """A string that is not empty, without the blanks around it."""
        value = self.string().strip()
        if not value:
            self.refuse("must not be empty.")
        return value

    def name(self) -> str:
        """A text for a label, a type, a property or a heading: in one line, without control characters."""
        value = self.text()
        if (wrong := wrong_name(value)) is not None:
            self.refuse(f"{wrong}.")
        return value

    def items(self, of: str = "strings") -> "list[Entry]":
        """The items of a list, in order; nothing written is an empty one. ``of`` names them in the refusal."""
        if self.is_null:
            return []
        if not isinstance(self.node, yaml.SequenceNode):
            self.refuse(f"must be a list of {of}, not {self._shown_kind}.")
        items = cast("Sequence[yaml.Node]", self.node.value)
        return [Entry(self.file, f"{self.key}[{at}]", _line(item), item) for at, item in enumerate(items)]

    def texts(self) -> tuple[str, ...]:
        """A list of strings; nothing written is an empty one."""
        return tuple(item.text() for item in self.items())

    def names(self) -> tuple[str, ...]:
        """A list of names, each once, in order; nothing written is an empty one."""
        return tuple(dict.fromkeys(item.name() for item in self.items()))

    def text_within(self, most_chars: int) -> str:
        """A string that is not empty, of at most ``most_chars`` characters."""
        value = self.text()
        if len(value) > most_chars:
            self.refuse(f"has {len(value):,} characters; at most {most_chars:,} are read.")
        return value

    def boolean(self) -> bool:
        """``true`` or ``false``."""
        if self._kind != "a boolean":
            self.refuse(f"must be true or false, not {self._shown_kind}.")
        return cast("yaml.ScalarNode", self.node).value in _TRUE

    def integer(self) -> int:
        """A whole number."""
        if self._kind != "an integer":
            self.refuse(f"must be an integer, not {self._shown_kind}.")
        digits = str(cast("yaml.ScalarNode", self.node).value)
        if len(digits) > _MOST_DIGITS:
            self.refuse("is too large a number.")
        return int(digits, _BASES.get(digits[:2], 10))

    def positive(self) -> int:
        """A whole number from 1."""
        if (value := self.integer()) < 1:
            self.refuse(f"is {value}; it must be 1 or more.")
        return value

    def scalar(self) -> Scalar:
        """A string, number or boolean, typed by the core schema; a string is as it is written."""
        kind = self._kind
        if kind == "a boolean":
            return self.boolean()
        if kind == "an integer":
            return self.integer()
        if kind == "a number":
            digits = str(cast("yaml.ScalarNode", self.node).value).lower()
            return float(digits.replace(".inf", "inf").replace(".nan", "nan"))
        if kind != "a string":
            self.refuse(f"must be a string, a number, true or false, not {self._shown_kind}.")
        return self.string()

    def plain(self) -> object:
        """The value as JSON has it: dicts, lists, scalars, None; as deep as ``MOST_DEPTH`` allows."""
        if isinstance(self.node, yaml.MappingNode):
            return {name: entry.plain() for name, entry in self.mapping().items()}
        if isinstance(self.node, yaml.SequenceNode):
            return [item.plain() for item in self.items()]
        return None if self.is_null else self.scalar()

    @property
    def is_boolean(self) -> bool:
        """Whether ``true`` or ``false`` is written here."""
        return self._kind == "a boolean"

    @property
    def is_mapping(self) -> bool:
        """Whether a mapping is written here."""
        return self._kind == "a mapping"

    @property
    def is_string(self) -> bool:
        """Whether a string is written here."""
        return self._kind == "a string"

    def choice(self, accepted: Sequence[str]) -> str:
        """One of the words ``accepted``."""
        value = self.text()
        if value not in accepted:
            self.refuse(f"is `{shown(value)}`; use one of {', '.join(accepted)}.")
        return value

    @property
    def _kind(self) -> str:
        """What the value is, by the core schema of YAML 1.2."""
        if isinstance(self.node, yaml.MappingNode):
            return "a mapping"
        if isinstance(self.node, yaml.SequenceNode):
            return "a list"
        if not isinstance(self.node, yaml.ScalarNode):
            return "nothing"
        value, is_plain = str(self.node.value), not self.node.style
        if not is_plain or self.node.tag == _STRING_TAG:  # `!!str 5`
            return "a string"
        if value in _NULL:
            return "nothing"
        if value in _TRUE or value in _FALSE:
            return "a boolean"
        if _INTEGER.fullmatch(value):
            return "an integer"
        return "a number" if _FLOAT.fullmatch(value) else "a string"

    @property
    def _shown_kind(self) -> str:
        if isinstance(self.node, yaml.ScalarNode) and self._kind != "nothing":
            return f"{self._kind} (`{shown(str(self.node.value))}`)"
        return self._kind


def wrong_name(value: str) -> str | None:
    """What keeps ``value`` from being the name of a label, type, property or heading; None where nothing does."""
    if not value:
        return "must not be empty"
    if any(unicodedata.category(character) in {"Cc", "Zl", "Zp"} for character in value):
        return "must not hold line breaks or control characters"
    return None


def read_tree(file: str, data: bytes | None) -> Entry:
    """The root of a YAML file; a missing or empty file has nothing in it.

    Raises:
        ProfileError: not UTF-8, not one YAML document, or more than any configuration says.
    """
    whole = Entry(file, "", 1, None)
    if len(data or b"") > MOST_BYTES:
        whole.refuse(f"has {len(data or b'')} bytes; at most {MOST_BYTES} are read.")
    try:
        text = (data or b"").decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        line = (data or b"").count(b"\n", 0, reason.start) + 1
        Entry(file, "", line, None).refuse("is not UTF-8. Save the file as UTF-8.")
    try:
        node = cast("yaml.Node | None", yaml.compose(text, Loader=_Composer))
    except yaml.MarkedYAMLError as reason:
        mark = reason.problem_mark or reason.context_mark
        if reason.problem == "exceeded maximum nesting depth":
            Entry(file, "", mark.line + 1 if mark else 1, None).refuse("is nested too deeply.")
        words = ", ".join(part for part in (reason.context, reason.problem) if part)
        Entry(file, "", mark.line + 1 if mark else 1, None).refuse(f"is not valid YAML: {words}.")
    except yaml.reader.ReaderError as reason:
        line = text.encode().count(b"\n", 0, reason.position) + 1
        Entry(file, "", line, None).refuse("is not valid YAML: it holds a control character.")
    except yaml.YAMLError as reason:
        whole.refuse(f"is not valid YAML: {reason}.")
    if node is not None:
        _check_extent(file, node)
    return Entry(file, "", _line(node) if node else 1, node)


def _check_extent(file: str, root: yaml.Node) -> None:
    """Refuse what is nested too deeply, contains itself, or grows by aliases, before anything else walks the tree."""
    waiting, values = [(root, 0)], 0
    while waiting:
        node, depth = waiting.pop()
        values += 1
        if values > MOST_VALUES:
            Entry(file, "", 1, None).refuse(f"holds more than {MOST_VALUES} values, those behind aliases counted.")
        if depth > MOST_DEPTH:
            Entry(file, "", _line(node), None).refuse(f"is nested too deeply: more than {MOST_DEPTH} levels.")
        if isinstance(node, yaml.MappingNode):
            pairs = cast("Sequence[tuple[yaml.Node, yaml.Node]]", node.value)
            waiting.extend((part, depth + 1) for pair in pairs for part in pair)
        elif isinstance(node, yaml.SequenceNode):
            waiting.extend((item, depth + 1) for item in cast("Sequence[yaml.Node]", node.value))


def shown(value: str) -> str:
    """A value as messages show it: one line, not long."""
    plain = value if value.isprintable() else value.encode("unicode_escape").decode("ascii")
    return plain if len(plain) <= _MOST_SHOWN else plain[: _MOST_SHOWN - 1] + "…"


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
