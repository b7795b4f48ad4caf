"""Reading a vault's configuration: `.kglite/vault.yaml` and `.kglite/vaultgraph.yaml` to a Profile.

The first file has the keys of the public vault format, the second those of ours that other readers would refuse. An
unknown key, version or shape is an error that says file, line, key and what is accepted. It does not read files itself.
"""

import unicodedata
from collections.abc import Callable
from typing import Final, Literal, cast

from vaultgraph.profile.settings import FolderNotes, Hub, Profile
from vaultgraph.profile.yaml_tree import Entry, read_tree

VAULT_FILE: Final = ".kglite/vault.yaml"
OWN_FILE: Final = ".kglite/vaultgraph.yaml"
FORMAT_VERSION: Final = 1

VAULT_KEYS: Final = (
    "kglite_vault",
    "default_label",
    "label_from",
    "body",
    "skip_dirs",
    "folder_notes",
    "hubs",
    "tag_labels",
    "heading_edges",
    "types",
    "indexes",
    "text_indexes",
    "ontology",
    "embed",
    "structure",
    "edge_defaults",
    "export",
)
OWN_KEYS: Final = ("note_label", "canvas", "resolution", "language", "inline_fields", "tasks")
TYPE_NAMES: Final = ("string", "int", "float", "bool", "date", "datetime", "list")
MAPPINGS_WITHOUT_EFFECT: Final = (
    "tag_labels",
    "indexes",
    "text_indexes",
    "ontology",
    "embed",
    "structure",
    "edge_defaults",
    "export",
)


def load_profile(root_reader: Callable[[str], bytes | None]) -> Profile:
    """The Profile of a vault; ``root_reader`` gives the bytes of a vault-relative file, None where it is not there.

    Raises:
        ProfileError: a file is refused; ``data`` has file, line and key.
    """
    vault = read_tree(VAULT_FILE, root_reader(VAULT_FILE))
    own = read_tree(OWN_FILE, root_reader(OWN_FILE)).record(OWN_KEYS)
    stated = _without_nulls(_checked_version(vault))
    own = _without_nulls(own)
    return Profile(
        default_label=stated["default_label"].text() if "default_label" in stated else None,
        label_from=_label_from(stated.get("label_from")),
        skip_dirs=stated["skip_dirs"].texts() if "skip_dirs" in stated else (),
        folder_notes=_folder_notes(stated.get("folder_notes")),
        types=_types(stated.get("types")),
        hubs=_hubs(stated.get("hubs")),
        heading_edges=_types_by_heading(stated.get("heading_edges")),
        note_label=own["note_label"].text() if "note_label" in own else "Note",
        canvas=own["canvas"].boolean() if "canvas" in own else True,
        resolution=_resolution(own.get("resolution")),
        ignored_keys=(*_ignored_of_vault(stated), *_ignored_of_own(own)),
    )


def _checked_version(vault: Entry) -> dict[str, Entry]:
    """The entries of vault.yaml once its version is known to be ours; an empty file has none."""
    if vault.is_null:
        return {}
    entries = vault.mapping()
    version = entries.get("kglite_vault")
    if version is None:
        Entry(vault.file, "kglite_vault", 1, None).refuse(
            f"is missing. Write `kglite_vault: {FORMAT_VERSION}` at the top."
        )
    # The version goes before the keys: another version may well have others.
    if (found := version.integer()) != FORMAT_VERSION:
        version.refuse(f"is {found}; this reader knows version {FORMAT_VERSION} of the format.")
    return vault.record(VAULT_KEYS)


def _without_nulls(entries: dict[str, Entry]) -> dict[str, Entry]:
    return {name: entry for name, entry in entries.items() if not entry.is_null}


def _label_from(entry: Entry | None) -> Literal["type", "folder"]:
    return cast("Literal['type', 'folder']", entry.choice(("type", "folder"))) if entry else "type"


def _resolution(entry: Entry | None) -> Literal["obsidian", "forgiving"]:
    if entry is None:
        return "forgiving"
    return cast("Literal['obsidian', 'forgiving']", entry.choice(("obsidian", "forgiving")))


def _folder_notes(entry: Entry | None) -> FolderNotes:
    if entry is None:
        return FolderNotes()
    stated = _without_nulls(entry.record(("edge", "direction")))
    default = FolderNotes()
    directions = ("child_to_parent", "parent_to_child")
    direction = stated["direction"].choice(directions) if "direction" in stated else default.direction
    return FolderNotes(
        edge=stated["edge"].text() if "edge" in stated else default.edge,
        direction=cast("Literal['child_to_parent', 'parent_to_child']", direction),
    )


def _hubs(entry: Entry | None) -> dict[str, Hub]:
    """Hubs by property key; what is not said makes the value a tag."""
    hubs: dict[str, Hub] = {}
    for key, described in (entry.mapping() if entry else {}).items():
        stated = _without_nulls(described.record(("label", "edge", "case_insensitive")))
        hubs[key] = Hub(
            label=stated["label"].text() if "label" in stated else "Tag",
            edge=stated["edge"].text() if "edge" in stated else "TAGGED",
            case_insensitive=stated["case_insensitive"].boolean() if "case_insensitive" in stated else False,
        )
    return hubs


def _types_by_heading(entry: Entry | None) -> dict[str, str]:
    """Relationship types by heading, folded as headings are compared; two headings that fold alike are refused."""
    edges: dict[str, str] = {}
    for heading, type_name in (entry.mapping() if entry else {}).items():
        folded = unicodedata.normalize("NFC", heading.strip()).casefold()
        folded = unicodedata.normalize("NFC", folded)
        if folded in edges:
            type_name.refuse("is there already in other letter case. Keep one of them.")
        edges[folded] = type_name.text()
    return edges


def _types(entry: Entry | None) -> dict[str, dict[str, str]]:
    labels = (entry.mapping() if entry else {}).items()
    return {
        label: {key: declared.choice(TYPE_NAMES) for key, declared in properties.mapping().items()}
        for label, properties in labels
    }


def _ignored_of_vault(stated: dict[str, Entry]) -> list[str]:
    """Keys of the format that have no effect yet, once their shape is right."""
    if "body" in stated:
        stated["body"].text()
    for name in MAPPINGS_WITHOUT_EFFECT:
        if name in stated:
            stated[name].mapping()
    return [name for name in VAULT_KEYS if name in stated and name in {"body", *MAPPINGS_WITHOUT_EFFECT}]


def _ignored_of_own(own: dict[str, Entry]) -> list[str]:
    if "language" in own:
        own["language"].text()
    if "inline_fields" in own:
        own["inline_fields"].boolean()
    if "tasks" in own:
        for entry in own["tasks"].record(("label", "edge")).values():
            entry.text()
    return [name for name in ("language", "inline_fields", "tasks") if name in own]
