"""A YAML file as nodes that know their line, and readers that refuse a wrong shape.

The only place of the package that touches the YAML library. Scalars follow YAML 1.2 core, so `yes` and a date are text.
It knows shapes, not the keys of any file; those are in vault_yaml.py.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NoReturn, cast

import yaml

from vaultgraph.errors import ProfileError

_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_TRUE: Final = frozenset({"true", "True", "TRUE"})
_FALSE: Final = frozenset({"false", "False", "FALSE"})
_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_MOST_DIGITS: Final = 18
_STRING_TAG: Final = "tag:yaml.org,2002:str"
_FLOAT_TAG: Final = "tag:yaml.org,2002:float"


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
            entry = Entry(self.file, f"{self.key}.{name}" if self.key else name, line, value_node)
            if name in entries:
                entry.refuse("is written twice. Keep one of them.")
            entries[name] = entry
        return entries

    def record(self, accepted: Sequence[str]) -> dict[str, "Entry"]:
        """A mapping whose keys are all among ``accepted``."""
        entries = self.mapping()
        for name, entry in entries.items():
            if name not in accepted:
                entry.refuse(f"is not a known key. Accepted here: {', '.join(accepted)}.")
        return entries

    def text(self) -> str:
        """A string that is not empty."""
        if self._kind != "a string":
            advice = " Put it in quotes to mean text." if isinstance(self.node, yaml.ScalarNode) else ""
            self.refuse(f"must be a string, not {self._shown_kind}.{advice}")
        value = str(cast("yaml.ScalarNode", self.node).value).strip()
        if not value:
            self.refuse("must not be empty.")
        return value

    def texts(self) -> tuple[str, ...]:
        """A list of strings; nothing written is an empty one."""
        if self.is_null:
            return ()
        if not isinstance(self.node, yaml.SequenceNode):
            self.refuse(f"must be a list of strings, not {self._shown_kind}.")
        items = cast("Sequence[yaml.Node]", self.node.value)
        return tuple(Entry(self.file, f"{self.key}[{at}]", _line(item), item).text() for at, item in enumerate(items))

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
        return int(digits)

    def choice(self, accepted: Sequence[str]) -> str:
        """One of the words ``accepted``."""
        value = self.text()
        if value not in accepted:
            self.refuse(f"is `{value}`; use one of {', '.join(accepted)}.")
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
        value, is_plain = str(self.node.value), self.node.style is None
        if not is_plain or self.node.tag == _STRING_TAG:
            return "a string"
        if value in _NULL:
            return "nothing"
        if value in _TRUE or value in _FALSE:
            return "a boolean"
        if _INTEGER.fullmatch(value):
            return "an integer"
        return "a number" if self.node.tag == _FLOAT_TAG else "a string"

    @property
    def _shown_kind(self) -> str:
        if isinstance(self.node, yaml.ScalarNode) and self._kind != "nothing":
            return f"{self._kind} (`{self.node.value}`)"
        return self._kind


def read_tree(file: str, data: bytes | None) -> Entry:
    """The root of a YAML file; a missing or empty file has nothing in it.

    Raises:
        ProfileError: not UTF-8, or not one YAML document.
    """
    try:
        text = (data or b"").decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        line = (data or b"").count(b"\n", 0, reason.start) + 1
        Entry(file, "", line, None).refuse("is not UTF-8. Save the file as UTF-8.")
    try:
        node = cast("yaml.Node | None", yaml.compose(text, Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as reason:
        mark = reason.problem_mark or reason.context_mark
        Entry(file, "", mark.line + 1 if mark else 1, None).refuse(f"is not valid YAML: {reason.problem or reason}.")
    except yaml.YAMLError as reason:
        Entry(file, "", 1, None).refuse(f"is not valid YAML: {reason}.")
    except RecursionError:
        Entry(file, "", 1, None).refuse("is nested too deeply.")
    return Entry(file, "", _line(node) if node else 1, node)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
