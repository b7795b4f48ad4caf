"""Reading the keys of vault.yaml that say something of properties, label by label: types, indexes, search.

Called by vault_yaml.py, each reader with the entry of its key, None where it is absent.
"""

from typing import Final

from vaultgraph.profile.yaml_tree import Entry

TYPE_NAMES: Final = ("string", "int", "float", "bool", "date", "datetime", "list")


def read_types(entry: Entry | None) -> dict[str, dict[str, str]]:
    """Names of types by label and property."""
    labels = (entry.named() if entry else {}).items()
    return {
        label: {key: declared.choice(TYPE_NAMES) for key, declared in properties.named().items()}
        for label, properties in labels
    }


def read_indexes(entry: Entry | None) -> dict[str, tuple[str, ...]]:
    """Properties by label, each once; `{range: p}` and `{composite: [p, q]}` name theirs, their kind is not kept."""
    return {
        label: tuple(dict.fromkeys(name for item in declared.items(of="indexes") for name in _indexed(item)))
        for label, declared in (entry.named() if entry else {}).items()
    }


def _indexed(entry: Entry) -> tuple[str, ...]:
    if entry.is_string:
        return (entry.name(),)
    if not entry.is_mapping:
        entry.refuse("must be a property, `{range: property}` or `{composite: [property, property]}`.")
    stated = entry.stated(("range", "composite"))
    if len(stated) != 1:
        entry.refuse("must have one key. Accepted here: range, composite.")
    if "range" in stated:
        return (stated["range"].name(),)
    names = stated["composite"].names()
    if len(names) < 2:
        stated["composite"].refuse("needs two properties or more.")
    return names


def read_text_indexes(entry: Entry | None) -> dict[str, tuple[str, ...]]:
    """Properties by label, each once."""
    return {label: declared.names() for label, declared in (entry.named() if entry else {}).items()}


def read_embedded(entry: Entry | None) -> dict[str, str]:
    """The one property by label."""
    return {label: declared.name() for label, declared in (entry.named() if entry else {}).items()}
