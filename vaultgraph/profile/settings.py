"""The parsed configuration of a vault: the Profile.

A pure value; `profile/vault_yaml` makes it from `.kglite/vault.yaml` and `.kglite/vaultgraph.yaml` and refuses what it
does not know.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class FolderNotes:
    """The relationship between a folder note and what lies in its folder.

    ``direction``: "child_to_parent" (default) or "parent_to_child".
    """

    edge: str = "CHILD_OF"
    direction: Literal["child_to_parent", "parent_to_child"] = "child_to_parent"


@dataclass(frozen=True, slots=True)
class Hub:
    """A property whose text values become shared nodes ``label`` linked by ``edge``."""

    label: str
    edge: str
    case_insensitive: bool = False


def _no_types() -> dict[str, Mapping[str, str]]:
    return {}


def _no_hubs() -> dict[str, Hub]:
    return {}


def _no_headings() -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Profile:
    """What a vault's configuration says; the defaults are a vault without any."""

    default_label: str | None = None
    label_from: Literal["type", "folder"] = "type"  # "folder" moves the top folder's name before `type:`
    skip_dirs: tuple[str, ...] = ()  # a bare name at any depth; with "/" anchored at the root
    folder_notes: FolderNotes = field(default_factory=FolderNotes)
    types: Mapping[str, Mapping[str, str]] = field(default_factory=_no_types)  # label → property → type name
    hubs: Mapping[str, Hub] = field(default_factory=_no_hubs)  # property key → hub
    heading_edges: Mapping[str, str] = field(default_factory=_no_headings)  # heading text, case-folded → type
    note_label: str = "Note"
    canvas: bool = True  # read .canvas files
    resolution: Literal["obsidian", "forgiving"] = "forgiving"  # "obsidian" switches alias, title, slug off
    ignored_keys: tuple[str, ...] = ()  # accepted keys that have no effect in this version, as written, for the report
