"""The configuration of an exported vault: as it was, with a rule for each table of relationships that is written.

`vault.yaml` is changed as text, so that what its author wrote stays; only one written in braces is laid out anew.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

from vaultgraph.errors import ExportError
from vaultgraph.export.plan import CONFIGURATION_FOLDER, MANIFEST, check_target
from vaultgraph.profile.settings import Profile, TableRule
from vaultgraph.profile.vault_yaml import VAULT_FILE, load_profile

_RESERVED: Final = (MANIFEST, f"{CONFIGURATION_FOLDER}graph.kgl")


def profile_of(configuration: Mapping[str, str]) -> Profile:
    """The profile that the configuration texts say.

    Raises: ProfileError.
    """
    contents = {path: text.encode() for path, text in configuration.items()}
    return load_profile(contents.get)


def checked_configuration(configuration: Mapping[str, str]) -> dict[str, bytes]:
    """The configuration files by path.

    Raises: ExportError: one that is no configuration, which only a made-up graph file has.
    """
    for path in configuration:
        if not path.startswith(CONFIGURATION_FOLDER) or path in _RESERVED:
            raise ExportError(f"{path!r}: is no configuration of a vault; nothing was exported.", {"paths": [path]})
        check_target(path)
    return {path: text.encode() for path, text in configuration.items()}


def with_table_rules(configuration: Mapping[str, str], profile: Profile, tables: Mapping[str, str]) -> dict[str, str]:
    """``configuration`` with a rule of `structure.tables` for each type and heading that has none.

    Raises: ExportError: `vault.yaml` cannot be added to.
    """
    structure = profile.reading.structure
    known = structure.tables if structure else ()
    missing = {kind: heading for kind, heading in tables.items() if not _has_rule(known, kind, heading)}
    if not missing:
        return dict(configuration)
    rules = [
        {"under_heading": _pattern(heading), "edge": kind, "edges": True} for kind, heading in sorted(missing.items())
    ]
    text = configuration.get(VAULT_FILE, "")
    return {**configuration, VAULT_FILE: _with_rules(text, rules)}


def _has_rule(rules: Sequence[TableRule], kind: str, heading: str) -> bool:
    """Whether a rule reads the table; patterns are compared as text, because only the reader may run them."""
    return any(
        rule.edges and rule.edge == kind and rule.under_heading in {heading, _pattern(heading)} for rule in rules
    )


def _pattern(heading: str) -> str:
    """The pattern that finds just this heading."""
    return f"^{re.escape(heading)}$".replace("\\ ", " ")


def _with_rules(text: str, rules: list[dict[str, Any]]) -> str:
    try:
        root: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        loaded: Any = yaml.safe_load(text)
    except yaml.YAMLError as reason:
        raise ExportError(f"{VAULT_FILE}: cannot be added to, because it is no YAML.") from reason
    if root is None:
        return "kglite_vault: 1\nstructure:\n  tables:\n" + _items(rules, 4)
    if not isinstance(root, yaml.MappingNode):
        raise ExportError(f"{VAULT_FILE}: cannot be added to, because it is no map.")
    ended = text if text.endswith("\n") else f"{text}\n"
    structure = _child(root, "structure")
    if structure is None and not root.flow_style:
        return f"{ended}structure:\n  tables:\n{_items(rules, 4)}"
    tables = _child(structure, "tables") if isinstance(structure, yaml.MappingNode) else None
    if isinstance(tables, yaml.SequenceNode) and not tables.flow_style and tables.value:
        return _inserted(ended, tables.start_mark.line, _items(rules, tables.start_mark.column))
    if isinstance(structure, yaml.MappingNode) and tables is None and not structure.flow_style and structure.value:
        indent = structure.start_mark.column
        return _inserted(ended, structure.start_mark.line, f"{' ' * indent}tables:\n{_items(rules, indent + 2)}")
    inside: dict[str, Any] = loaded.get("structure") or {}
    loaded["structure"] = {**inside, "tables": [*(inside.get("tables") or []), *rules]}
    return yaml.safe_dump(loaded, sort_keys=False, allow_unicode=True)


def _child(node: yaml.MappingNode, key: str) -> yaml.Node | None:
    return next((value for name, value in node.value if name.value == key), None)


def _items(rules: list[dict[str, Any]], indent: int) -> str:
    margin = " " * indent
    return "".join(
        f"{margin}- under_heading: {_quoted(rule['under_heading'])}\n"
        f"{margin}  edge: {_quoted(rule['edge'])}\n{margin}  edges: true\n"
        for rule in rules
    )


def _quoted(text: str) -> str:
    return yaml.safe_dump(text, default_style="'", allow_unicode=True, width=1 << 20).strip()


def _inserted(text: str, line: int, block: str) -> str:
    lines = text.split("\n")
    return "\n".join([*lines[:line], *block.removesuffix("\n").split("\n"), *lines[line:]])
