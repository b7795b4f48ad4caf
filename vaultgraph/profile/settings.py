"""The parsed configuration of a vault: the Profile.

A pure value; `profile/vault_yaml` makes it from `.kglite/vault.yaml` and `.kglite/vaultgraph.yaml` and refuses what it
does not know.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from vaultgraph.frozen import frozen
from vaultgraph.profile.ontology import Ontology

Scalar = str | int | float | bool


def _nothing() -> dict[str, Any]:
    return {}


@frozen
class FolderNotes:
    """The relationship between a folder note and what lies in its folder.

    ``direction``: "child_to_parent" (default) or "parent_to_child".
    """

    edge: str = "CHILD_OF"
    direction: Literal["child_to_parent", "parent_to_child"] = "child_to_parent"


@frozen
class Hub:
    """A property whose text values become shared nodes ``label`` linked by ``edge``."""

    label: str
    edge: str
    case_insensitive: bool = False


@frozen
class TagLabel:
    """Tags below a prefix as nodes ``label`` linked by ``edge``, without the prefix in their name."""

    label: str
    edge: str


@frozen
class Sections:
    """Every heading as a node; ``edge`` from note or section, ``parent`` back to a section, ``next`` to the sibling."""

    label: str = "Section"
    edge: str = "HAS_SECTION"
    parent: str = "PARENT_SECTION"
    next: str = "NEXT_SECTION"


@frozen
class Chunks:
    """Leaf blocks of a section packed in order, up to ``max_words`` and ``max_chars``, as nodes."""

    label: str = "Chunk"
    edge: str = "HAS_CHUNK"
    next: str = "NEXT_CHUNK"
    max_words: int = 650
    max_chars: int = 6000


@frozen
class Callouts:
    """Every callout as a node."""

    label: str = "Callout"
    edge: str = "HAS_CALLOUT"


@frozen
class CodeFences:
    """Fenced code as nodes; ``langs`` in lower case, None for every fence."""

    label: str = "Example"
    edge: str = "HAS_EXAMPLE"
    langs: tuple[str, ...] | None = None


@frozen
class OrderedLists:
    """Ordered lists as a ``container`` with steps ``label``; ``under_heading`` is a pattern, None for every list."""

    label: str = "ProcedureStep"
    container: str = "Procedure"
    edge: str = "HAS_STEP"
    next: str = "NEXT_STEP"
    under_heading: str | None = None
    min_items: int = 2

    @property
    def container_type(self) -> str:
        """The type of the relationship to the container: ``HAS_`` and its label in capitals."""
        return "HAS_" + "_".join(self.container.upper().split())


@frozen
class TableRule:
    """Tables under headings that match the pattern ``under_heading``.

    ``edges`` False: each row is a node ``label``, linked by ``edge``, its key in ``key_column``. True: each row is a
    relationship ``edge`` from the note to what ``key_column`` (else the first column with a wikilink) names.
    """

    under_heading: str
    edge: str
    label: str | None = None
    key_column: str | None = None
    edges: bool = False


@frozen
class KeyFromHeading:
    """Sections of notes labelled ``under_label`` whose heading matches: labelled ``label``, named in ``property``."""

    under_label: str
    label: str = "ApiSymbol"
    when_matches: str = r"^[\w.]+\.[\w]+(\(.*\))?(\s*→.*)?$"
    property: str = "qualified_name"


@frozen
class Structure:
    """What `structure:` makes of note bodies; patterns are searched for, as polars' regular expressions.

    ``inherit``: properties of the note that its parts carry too. ``embed_text``: template of a property of this name.
    """

    sections: Sections | None = None
    chunks: Chunks | None = None
    callouts: Callouts | None = None
    code_fences: CodeFences | None = None
    ordered_lists: OrderedLists | None = None
    tables: tuple[TableRule, ...] = ()
    key_from_heading: KeyFromHeading | None = None
    inherit: tuple[str, ...] = ()
    embed_text: str | None = None


@frozen
class Tasks:
    """Tasks (`- [ ]`) as nodes ``label``, linked by ``edge`` from their note or section."""

    label: str = "Task"
    edge: str = "HAS_TASK"


@frozen
class Reading:
    """The part of a profile that decides what reading a note gives; when it changes, notes are read again."""

    structure: Structure | None = None
    inline_fields: bool = False  # `key:: value` in bodies
    tasks: Tasks | None = None


@frozen
class Interval:
    """The properties that hold the first and the last day of something's validity."""

    start: str = "valid_from"
    stop: str = "valid_to"


@frozen
class ValidTime:
    """What says from when to when it holds, by label and by relationship type; false where nothing does."""

    labels: Mapping[str, Interval] = field(default_factory=_nothing)
    types: Mapping[str, Interval] = field(default_factory=_nothing)

    def __bool__(self) -> bool:
        return bool(self.labels or self.types)


@frozen
class Profile:
    """What a vault's configuration says; the defaults are a vault without any."""

    default_label: str | None = None
    label_from: Literal["type", "folder"] = "type"  # "folder" moves the top folder's name before `type:`
    skip_dirs: tuple[str, ...] = ()  # a bare name at any depth; with "/" anchored at the root
    folder_notes: FolderNotes = field(default_factory=FolderNotes)
    types: Mapping[str, Mapping[str, str]] = field(default_factory=_nothing)  # label → property → type name
    hubs: Mapping[str, Hub] = field(default_factory=_nothing)  # property key → hub
    tag_labels: Mapping[str, TagLabel] = field(
        default_factory=_nothing
    )  # prefix of tags, case-folded, without the final "/*"
    heading_edges: Mapping[str, str] = field(default_factory=_nothing)  # heading text, case-folded → type
    edge_defaults: Mapping[str, Mapping[str, Scalar]] = field(
        default_factory=_nothing
    )  # relationship type → property → value
    indexes: Mapping[str, tuple[str, ...]] = field(default_factory=_nothing)  # label → properties looked up often
    text_indexes: Mapping[str, tuple[str, ...]] = field(default_factory=_nothing)  # label → properties searched as text
    embed: Mapping[str, str] = field(default_factory=_nothing)  # label → property that vectors are made from
    edge_tables: Mapping[str, str] = field(
        default_factory=_nothing
    )  # `export`: relationship type → heading of the table it is written as
    ontology: Ontology | None = None
    reading: Reading = field(default_factory=Reading)
    body: str | None = None  # accepted for the format's sake: bodies are always kept
    language: str | None = None  # of the notes, for text search
    valid_time: ValidTime = field(default_factory=ValidTime)
    note_label: str = "Note"
    canvas: bool = True  # read .canvas files
    resolution: Literal["obsidian", "forgiving"] = "forgiving"  # "obsidian" switches alias, title, slug off
    ignored_keys: tuple[str, ...] = ()  # accepted keys that have no effect in this version, as written, for the report
