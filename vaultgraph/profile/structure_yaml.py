"""Reading `structure:` of vault.yaml: which parts of a note's body become nodes and relationships.

Called by vault_yaml.py. A rule with nothing written has all its defaults. Each reader takes the entry of its rule and
gives the rule's value; what the rules do is the business of reading and building.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from vaultgraph.profile.patterns import read_pattern, read_template
from vaultgraph.profile.settings import (
    Callouts,
    Chunks,
    CodeFences,
    KeyFromHeading,
    OrderedLists,
    Sections,
    Structure,
    TableRule,
)
from vaultgraph.profile.yaml_tree import Entry

STRUCTURE_KEYS: Final = (
    "sections",
    "chunks",
    "callouts",
    "code_fences",
    "ordered_lists",
    "tables",
    "key_from_heading",
    "inherit",
    "embed_text",
)
MOST_TABLE_RULES: Final = 50  # each compiles a pattern
RESERVED_PROPERTIES: Final = frozenset(
    {"id", "type", "title", "aliases", "tags", "parent", "cssclasses", "kg_skip"}  # of every note, whatever they hold
)
OWN_PROPERTIES: Final = frozenset(  # of the nodes made from parts of a note
    {
        *("note_id", "section_id", "ordinal", "line", "block_id", "embed_text", "concept_id", "path", "file_path"),
        *("level", "text", "chunk_hash", "kind", "fold", "lang", "code", "caption", "step_count", "signature"),
    }
)
# Copied to every part, the body would make a vault grow with the square of its size.
TOO_LARGE_PROPERTIES: Final = frozenset({"body"})

Rule = TypeVar("Rule")


def read_structure(entry: Entry | None) -> Structure | None:
    """The rules stated below `structure:`; None where none is.

    Raises:
        ProfileError: a rule is refused; ``data`` has file, line and key.
    """
    stated = entry.record(STRUCTURE_KEYS) if entry else {}
    structure = Structure(
        sections=_rule(stated.get("sections"), _sections),
        chunks=_rule(stated.get("chunks"), _chunks),
        callouts=_rule(stated.get("callouts"), _callouts),
        code_fences=_rule(stated.get("code_fences"), _code_fences),
        ordered_lists=_rule(stated.get("ordered_lists"), _ordered_lists),
        tables=_tables(stated.get("tables")),
        key_from_heading=_rule(stated.get("key_from_heading"), _key_from_heading),
        inherit=_inherited(stated.get("inherit")),
        embed_text=_embed_text(stated.get("embed_text")),
    )
    return None if structure == Structure() else structure


def _rule(entry: Entry | None, read: Callable[[Entry], Rule]) -> Rule | None:
    """The rule if its key is there at all: written with nothing below, it has its defaults."""
    if entry is not None and entry.is_boolean:
        default = "Leave out `true`: the key alone switches it on." if entry.boolean() else "Leave out the key."
        entry.refuse(f"must be a mapping, not a boolean. {default}")
    return None if entry is None else read(entry)


def _name(stated: dict[str, Entry], key: str, default: str) -> str:
    return stated[key].name() if key in stated else default


def _sections(entry: Entry) -> Sections:
    stated, default = entry.stated(("label", "edge", "parent", "next")), Sections()
    return Sections(
        label=_name(stated, "label", default.label),
        edge=_name(stated, "edge", default.edge),
        parent=_name(stated, "parent", default.parent),
        next=_name(stated, "next", default.next),
    )


def _chunks(entry: Entry) -> Chunks:
    stated, default = entry.stated(("label", "edge", "next", "max_words", "max_chars")), Chunks()
    return Chunks(
        label=_name(stated, "label", default.label),
        edge=_name(stated, "edge", default.edge),
        next=_name(stated, "next", default.next),
        max_words=stated["max_words"].positive() if "max_words" in stated else default.max_words,
        max_chars=stated["max_chars"].positive() if "max_chars" in stated else default.max_chars,
    )


def _callouts(entry: Entry) -> Callouts:
    stated, default = entry.stated(("label", "edge")), Callouts()
    return Callouts(label=_name(stated, "label", default.label), edge=_name(stated, "edge", default.edge))


def _code_fences(entry: Entry) -> CodeFences:
    stated, default = entry.stated(("label", "edge", "langs")), CodeFences()
    return CodeFences(
        label=_name(stated, "label", default.label),
        edge=_name(stated, "edge", default.edge),
        langs=tuple(dict.fromkeys(lang.lower() for lang in stated["langs"].names())) if "langs" in stated else None,
    )


def _ordered_lists(entry: Entry) -> OrderedLists:
    stated = entry.stated(("label", "container", "edge", "next", "under_heading", "min_items"))
    default = OrderedLists()
    return OrderedLists(
        label=_name(stated, "label", default.label),
        container=_name(stated, "container", default.container),
        edge=_name(stated, "edge", default.edge),
        next=_name(stated, "next", default.next),
        under_heading=read_pattern(stated["under_heading"]) if "under_heading" in stated else None,
        min_items=stated["min_items"].positive() if "min_items" in stated else default.min_items,
    )


def _tables(entry: Entry | None) -> tuple[TableRule, ...]:
    rules = entry.items(of="rules") if entry else []
    if entry and len(rules) > MOST_TABLE_RULES:
        entry.refuse(f"has {len(rules)} rules; at most {MOST_TABLE_RULES} are read.")
    return tuple(_table(rule) for rule in rules)


def _table(entry: Entry) -> TableRule:
    stated = entry.stated(("under_heading", "label", "key_column", "edge", "edges"))
    if "under_heading" not in stated:
        entry.refuse("needs `under_heading:`, a pattern for the heading above its tables.")
    makes_relationships = "edges" in stated and stated["edges"].boolean()
    if makes_relationships and "label" in stated:
        stated["label"].refuse("cannot stand beside `edges: true`, by which rows are relationships and no nodes.")
    if makes_relationships and "edge" not in stated:
        entry.refuse("needs `edge:`, the type of the relationships that `edges: true` makes of rows.")
    if not makes_relationships and "label" not in stated:
        entry.refuse("needs `label:` to make nodes of rows, or `edges: true` and `edge:` to make relationships.")
    label = stated["label"].name() if "label" in stated else None
    return TableRule(
        under_heading=read_pattern(stated["under_heading"]),
        edge=_name(stated, "edge", "HAS_" + "_".join((label or "").upper().split())),
        label=label,
        key_column=stated["key_column"].name() if "key_column" in stated else None,
        edges=makes_relationships,
    )


def _key_from_heading(entry: Entry) -> KeyFromHeading:
    stated = entry.stated(("label", "when_matches", "property", "under_label"))
    if "under_label" not in stated:
        entry.refuse("needs `under_label:`, the label of the notes whose headings are names.")
    default = KeyFromHeading(under_label=stated["under_label"].name())
    if "property" in stated and stated["property"].name() in RESERVED_PROPERTIES | OWN_PROPERTIES:
        stated["property"].refuse(f"is `{stated['property'].name()}`, a property that parts of notes have already.")
    return KeyFromHeading(
        under_label=default.under_label,
        label=_name(stated, "label", default.label),
        when_matches=read_pattern(stated["when_matches"]) if "when_matches" in stated else default.when_matches,
        property=_name(stated, "property", default.property),
    )


def _inherited(entry: Entry | None) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for item in entry.items() if entry else []:
        name = item.name()
        if name in RESERVED_PROPERTIES:
            item.refuse(f"is `{name}`, a key that means something of its own in every note.")
        if name in OWN_PROPERTIES:
            item.refuse(f"is `{name}`, a property that parts of notes have themselves.")
        if name in TOO_LARGE_PROPERTIES:
            item.refuse(f"is `{name}`, which holds a whole note and is not copied to each of its parts.")
        names[name] = None
    return tuple(names)


def _embed_text(entry: Entry | None) -> str | None:
    return None if entry is None or entry.is_null else read_template(entry)
