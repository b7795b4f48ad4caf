"""Reading the keys of vault.yaml about relationships: hubs, tags, headings, defaults, tables of an export.

Called by vault_yaml.py, each reader with the entry of its key, None where it is absent.
"""

import unicodedata

from vaultgraph.profile.settings import Hub, Scalar, TagLabel
from vaultgraph.profile.yaml_tree import Entry


def read_hubs(entry: Entry | None) -> dict[str, Hub]:
    """Hubs by property key; what is not said makes the value a tag."""
    hubs: dict[str, Hub] = {}
    for key, described in (entry.named() if entry else {}).items():
        stated = described.stated(("label", "edge", "case_insensitive"))
        hubs[key] = Hub(
            label=stated["label"].name() if "label" in stated else "Tag",
            edge=stated["edge"].name() if "edge" in stated else "TAGGED",
            case_insensitive=stated["case_insensitive"].boolean() if "case_insensitive" in stated else False,
        )
    return hubs


def read_tag_labels(entry: Entry | None) -> dict[str, TagLabel]:
    """Labels of tags by prefix, case-folded and without the `/*` it is written with; label and type are required."""
    labels: dict[str, TagLabel] = {}
    for pattern, described in (entry.named() if entry else {}).items():
        prefix, slash, rest = pattern.removeprefix("#").rpartition("/")
        if not prefix or "*" in prefix or (slash, rest) != ("/", "*"):
            described.refuse("is no pattern for tags; write `<prefix>/*`, like `topic/*`.")
        folded = _folded(prefix)
        if folded in labels:
            described.refuse("is there already in other letter case. Keep one of them.")
        stated = described.stated(("label", "edge"))
        for key in ("label", "edge"):
            if key not in stated:
                described.refuse(f"needs `{key}:`. Accepted here: label, edge.")
        labels[folded] = TagLabel(label=stated["label"].name(), edge=stated["edge"].name())
    return labels


def read_heading_types(entry: Entry | None) -> dict[str, str]:
    """Relationship types by heading, folded as headings are compared; two headings that fold alike are refused."""
    types: dict[str, str] = {}
    for heading, type_name in (entry.named() if entry else {}).items():
        folded = _folded(heading)
        if folded in types:
            type_name.refuse("is there already in other letter case. Keep one of them.")
        types[folded] = type_name.name()
    return types


def read_defaults(entry: Entry | None) -> dict[str, dict[str, Scalar]]:
    """Values of properties by relationship type, for relationships that do not have them."""
    types = (entry.named() if entry else {}).items()
    return {
        type_name: {key: value.scalar() for key, value in properties.named().items()} for type_name, properties in types
    }


def read_tables_of_export(entry: Entry | None) -> dict[str, str]:
    """Headings of tables by the relationship type that an export writes into them."""
    stated = entry.stated(("edge_tables",)) if entry else {}
    tables = stated["edge_tables"].named() if "edge_tables" in stated else {}
    return {type_name: heading.name() for type_name, heading in tables.items()}


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text.strip()).casefold())
