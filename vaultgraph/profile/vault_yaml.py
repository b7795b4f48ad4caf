"""Reading a vault's configuration: `.kglite/vault.yaml` and `.kglite/vaultgraph.yaml` to a Profile.

The first file has the keys of the public vault format, the second those of ours that other readers would refuse. An
unknown key, version or shape is an error that says file, line, key and what is accepted. The larger keys have modules
of their own (structure_yaml, links_yaml, labels_yaml, ontology_yaml). It does not read files itself.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal, cast

from vaultgraph.profile.labels_yaml import read_embedded, read_indexes, read_text_indexes, read_types
from vaultgraph.profile.links_yaml import (
    read_defaults,
    read_heading_types,
    read_hubs,
    read_tables_of_export,
    read_tag_labels,
)
from vaultgraph.profile.ontology_yaml import read_ontology
from vaultgraph.profile.settings import FolderNotes, Profile, Reading, Tasks
from vaultgraph.profile.structure_yaml import read_structure
from vaultgraph.profile.valid_time_yaml import read_valid_time
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
OWN_KEYS: Final = ("note_label", "canvas", "resolution", "language", "inline_fields", "tasks", "valid_time")
# Accepted, so that a vault written for another reader opens; nothing in this version goes by them.
WITHOUT_EFFECT: Final = ("body", "text_indexes", "embed", "language")


def load_profile(root_reader: Callable[[str], bytes | None]) -> Profile:
    """The Profile of a vault; ``root_reader`` gives the bytes of a vault-relative file, None where it is not there.

    Raises:
        ProfileError: a file is refused; ``data`` has file, line and key.
    """
    vault = read_tree(VAULT_FILE, root_reader(VAULT_FILE))
    stated = _without_nulls(_checked_version(vault))
    own_tree = read_tree(OWN_FILE, root_reader(OWN_FILE))
    _refuse_misplaced(own_tree.mapping(), VAULT_KEYS, VAULT_FILE)
    own = own_tree.stated(OWN_KEYS)
    return Profile(
        default_label=stated["default_label"].name() if "default_label" in stated else None,
        label_from=_label_from(stated.get("label_from")),
        skip_dirs=stated["skip_dirs"].texts() if "skip_dirs" in stated else (),
        folder_notes=_folder_notes(stated.get("folder_notes")),
        types=read_types(stated.get("types")),
        hubs=read_hubs(stated.get("hubs")),
        tag_labels=read_tag_labels(stated.get("tag_labels")),
        heading_edges=read_heading_types(stated.get("heading_edges")),
        edge_defaults=read_defaults(stated.get("edge_defaults")),
        indexes=read_indexes(stated.get("indexes")),
        text_indexes=read_text_indexes(stated.get("text_indexes")),
        embed=read_embedded(stated.get("embed")),
        edge_tables=read_tables_of_export(stated.get("export")),
        ontology=read_ontology(stated.get("ontology")),
        reading=Reading(
            structure=read_structure(stated.get("structure")),
            inline_fields=own["inline_fields"].boolean() if "inline_fields" in own else False,
            tasks=_tasks(own.get("tasks")),
        ),
        body=stated["body"].string() if "body" in stated else None,
        language=own["language"].text() if "language" in own else None,
        valid_time=read_valid_time(own.get("valid_time")),
        note_label=own["note_label"].name() if "note_label" in own else "Note",
        canvas=own["canvas"].boolean() if "canvas" in own else True,
        resolution=_resolution(own.get("resolution")),
        ignored_keys=tuple(key for key in WITHOUT_EFFECT if key in stated or key in own),
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
    _refuse_misplaced(entries, OWN_KEYS, OWN_FILE)
    return vault.record(VAULT_KEYS)


def _refuse_misplaced(entries: dict[str, Entry], others: Sequence[str], file: str) -> None:
    for name, entry in entries.items():
        if name in others:
            entry.refuse(f"is a key of {file} and not of this file. Move it there.")


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
    stated = entry.stated(("edge", "direction"))
    default = FolderNotes()
    directions = ("child_to_parent", "parent_to_child")
    direction = stated["direction"].choice(directions) if "direction" in stated else default.direction
    return FolderNotes(
        edge=stated["edge"].name() if "edge" in stated else default.edge,
        direction=cast("Literal['child_to_parent', 'parent_to_child']", direction),
    )


def _tasks(entry: Entry | None) -> Tasks | None:
    """`true` and an empty mapping are the defaults, `false` and nothing are off."""
    if entry is None or (entry.is_boolean and not entry.boolean()):
        return None
    stated = {} if entry.is_boolean else entry.stated(("label", "edge"))
    default = Tasks()
    return Tasks(
        label=stated["label"].name() if "label" in stated else default.label,
        edge=stated["edge"].name() if "edge" in stated else default.edge,
    )
