"""`structure:`: each rule with its defaults and its own values, and how a wrong one is refused."""

import pytest

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
from vaultgraph.profile.structure_yaml import MOST_TABLE_RULES, OWN_PROPERTIES, RESERVED_PROPERTIES

RULES = {
    "sections": Structure(sections=Sections("Section", "HAS_SECTION", "PARENT_SECTION", "NEXT_SECTION")),
    "chunks": Structure(chunks=Chunks("Chunk", "HAS_CHUNK", "NEXT_CHUNK", 650, 6000)),
    "callouts": Structure(callouts=Callouts("Callout", "HAS_CALLOUT")),
    "code_fences": Structure(code_fences=CodeFences("Example", "HAS_EXAMPLE", None)),
    "ordered_lists": Structure(
        ordered_lists=OrderedLists("ProcedureStep", "Procedure", "HAS_STEP", "NEXT_STEP", None, 2)
    ),
}


@pytest.fixture
def structure(load):
    """The Structure of what is written below `structure:`."""
    return lambda text: load(f"structure: {text}\n").reading.structure


@pytest.mark.parametrize("text", ["", "{}", "null", "{inherit: []}", "{tables: [], embed_text: ''}", "{tables: }"])
def test_a_structure_without_rules_is_none(structure, text):
    assert structure(text) is None


@pytest.mark.parametrize("nothing", ["", "{}", "null"])
@pytest.mark.parametrize("rule", sorted(RULES))
def test_a_rule_with_nothing_written_has_its_defaults(structure, rule, nothing):
    assert structure(f"{{{rule}: {nothing}}}") == RULES[rule]


def test_every_value_of_every_rule_is_read(structure):
    found = structure(
        r"""
  sections: {label: Part, edge: HAS PART, parent: UP, next: THEN}
  chunks: {label: Piece, edge: P, next: N, max_words: 1, max_chars: 20}
  callouts: {label: Box, edge: HAS_BOX}
  code_fences: {label: Code, edge: HAS_CODE, langs: [Python, SQL, python]}
  ordered_lists: {label: Step, container: How  to, edge: S, next: T, under_heading: ' ^Steps', min_items: 1}
  tables:
    - {under_heading: ^Parameters$, label: Api Parameter, key_column: name}
    - {under_heading: '', label: Row, edge: HAS, edges: false}
    - {under_heading: Worked, edges: true, edge: WORKED_AT, key_column: place}
  key_from_heading: {under_label: Api, label: Symbol, when_matches: '^\w+$', property: name_of_it}
  inherit: [corpus, year, corpus, status]
  embed_text: " {title} {section_title} {heading_path} {text} {id} {} { text } {{"
"""
    )
    assert found == Structure(
        sections=Sections("Part", "HAS PART", "UP", "THEN"),
        chunks=Chunks("Piece", "P", "N", 1, 20),
        callouts=Callouts("Box", "HAS_BOX"),
        code_fences=CodeFences("Code", "HAS_CODE", ("python", "sql")),
        ordered_lists=OrderedLists("Step", "How  to", "S", "T", " ^Steps", 1),
        tables=(
            TableRule("^Parameters$", "HAS_API_PARAMETER", "Api Parameter", "name"),
            TableRule("", "HAS", "Row"),
            TableRule("Worked", "WORKED_AT", None, "place", edges=True),
        ),
        key_from_heading=KeyFromHeading("Api", "Symbol", r"^\w+$", "name_of_it"),
        inherit=("corpus", "year", "status"),
        embed_text=" {title} {section_title} {heading_path} {text} {id} {} { text } {{",
    )
    assert found.ordered_lists.container_type == "HAS_HOW_TO"


def test_headings_as_keys_need_a_label_and_have_defaults_for_the_rest(structure):
    assert structure("{key_from_heading: {under_label: Api}}").key_from_heading == KeyFromHeading(
        "Api", "ApiSymbol", r"^[\w.]+\.[\w]+(\(.*\))?(\s*→.*)?$", "qualified_name"
    )


def test_no_languages_are_not_the_same_as_every_language(structure):
    assert structure("{code_fences: {langs: []}}").code_fences.langs == ()
    assert structure("{code_fences: {langs: }}").code_fences.langs is None


def test_nothing_written_for_a_value_is_its_default(structure):
    assert structure("{chunks: {label: , max_words: null, max_chars: ~}}") == RULES["chunks"]
    table = structure("{tables: [{under_heading: x, label: A, edge: , edges: , key_column: }]}").tables
    assert table == (TableRule("x", "HAS_A", "A"),)


def test_copying_properties_to_parts_is_kept_where_only_tasks_could_have_them(structure):
    assert structure("{inherit: [year]}") == Structure(inherit=("year",))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("3", "`structure` must be a mapping, not an integer (`3`)."),
        (
            "{parts: {}}",
            (
                "`structure.parts` is not a known key. Accepted here: sections, chunks, callouts, code_fences,"
                " ordered_lists, tables, key_from_heading, inherit, embed_text."
            ),
        ),
        (
            "{sections: true}",
            "`structure.sections` must be a mapping, not a boolean. Leave out `true`: the key alone switches it on.",
        ),
        ("{chunks: false}", "`structure.chunks` must be a mapping, not a boolean. Leave out the key."),
        ("{sections: {x: 1}}", "`structure.sections.x` is not a known key. Accepted here: label, edge, parent, next."),
        ("{sections: {label: ''}}", "`structure.sections.label` must not be empty."),
        (
            r'{sections: {label: "a\nb"}}',
            "`structure.sections.label` must not hold line breaks or control characters.",
        ),
        (r'{sections: {edge: "\0"}}', "`structure.sections.edge` must not hold line breaks or control characters."),
        (
            "{chunks: {words: 3}}",
            "`structure.chunks.words` is not a known key. Accepted here: label, edge, next, max_words, max_chars.",
        ),
        ("{chunks: {max_words: 0}}", "`structure.chunks.max_words` is 0; it must be 1 or more."),
        ("{chunks: {max_chars: -5}}", "`structure.chunks.max_chars` is -5; it must be 1 or more."),
        ("{chunks: {max_chars: 1.5}}", "`structure.chunks.max_chars` must be an integer, not a number (`1.5`)."),
        ("{chunks: {max_chars: '5'}}", "`structure.chunks.max_chars` must be an integer, not a string (`5`)."),
        ("{chunks: {max_chars: 99999999999999999999}}", "`structure.chunks.max_chars` is too large a number."),
        ("{callouts: {kind: x}}", "`structure.callouts.kind` is not a known key. Accepted here: label, edge."),
        (
            "{code_fences: {langs: sql}}",
            "`structure.code_fences.langs` must be a list of strings, not a string (`sql`).",
        ),
        (
            "{code_fences: {langs: [1]}}",
            "`structure.code_fences.langs[0]` must be a string, not an integer (`1`). Put it in quotes to mean text.",
        ),
        (
            "{ordered_lists: {x: 1}}",
            (
                "`structure.ordered_lists.x` is not a known key."
                " Accepted here: label, container, edge, next, under_heading, min_items."
            ),
        ),
        ("{ordered_lists: {min_items: 0}}", "`structure.ordered_lists.min_items` is 0; it must be 1 or more."),
        (
            "{ordered_lists: {under_heading: '['}}",
            "`structure.ordered_lists.under_heading` is not a regular expression: unclosed character class.",
        ),
        ("{tables: {}}", "`structure.tables` must be a list of rules, not a mapping."),
        ("{tables: [3]}", "`structure.tables[0]` must be a mapping, not an integer (`3`)."),
        (
            "{tables: [{label: A}]}",
            "`structure.tables[0]` needs `under_heading:`, a pattern for the heading above its tables.",
        ),
        (
            "{tables: [{under_heading: x, label: A}, {under_heading: y, edge: T}]}",
            (
                "`structure.tables[1]` needs `label:` to make nodes of rows,"
                " or `edges: true` and `edge:` to make relationships."
            ),
        ),
        (
            "{tables: [{under_heading: x, edges: true}]}",
            "`structure.tables[0]` needs `edge:`, the type of the relationships that `edges: true` makes of rows.",
        ),
        (
            "{tables: [{under_heading: x, edges: true, edge: T, label: A}]}",
            (
                "`structure.tables[0].label` cannot stand beside `edges: true`,"
                " by which rows are relationships and no nodes."
            ),
        ),
        (
            "{tables: [{under_heading: x, edges: no, label: A}]}",
            "`structure.tables[0].edges` must be true or false, not a string (`no`).",
        ),
        (
            "{tables: [{under_heading: x, label: A, columns: []}]}",
            (
                "`structure.tables[0].columns` is not a known key."
                " Accepted here: under_heading, label, key_column, edge, edges."
            ),
        ),
        (
            "{tables: [{under_heading: x, label: A, key_column: ' '}]}",
            "`structure.tables[0].key_column` must not be empty.",
        ),
        (
            "{tables: [{under_heading: (, label: A}]}",
            "`structure.tables[0].under_heading` is not a regular expression: unclosed group.",
        ),
        (
            "{key_from_heading: }",
            "`structure.key_from_heading` needs `under_label:`, the label of the notes whose headings are names.",
        ),
        (
            "{key_from_heading: {under_label: A, when_matches: '(?=a)'}}",
            (
                "`structure.key_from_heading.when_matches` is not a regular expression:"
                " look-around, including look-ahead and look-behind, is not supported."
            ),
        ),
        (
            "{key_from_heading: {under_label: A, property: title}}",
            "`structure.key_from_heading.property` is `title`, a property that parts of notes have already.",
        ),
        ("{inherit: corpus}", "`structure.inherit` must be a list of strings, not a string (`corpus`)."),
        (
            "{inherit: [a, tags]}",
            "`structure.inherit[1]` is `tags`, a key that means something of its own in every note.",
        ),
        ("{inherit: [a, lang]}", "`structure.inherit[1]` is `lang`, a property that parts of notes have themselves."),
        (
            "{inherit: [body]}",
            "`structure.inherit[0]` is `body`, which holds a whole note and is not copied to each of its parts.",
        ),
        ("{embed_text: [a]}", "`structure.embed_text` must be a string, not a list."),
        (
            "{embed_text: '{title} {Text}'}",
            (
                "`structure.embed_text` uses `{Text}`, which is no placeholder."
                " Accepted here: {title}, {section_title}, {heading_path}, {text}, {id}."
            ),
        ),
    ],
)
def test_a_wrong_rule_is_refused_in_words(refused_words, text, words):
    assert refused_words(f"structure: {text}\n") == f"2: {words}"


def test_the_line_is_that_of_the_wrong_key(refusal):
    error = refusal("structure:\n  sections:\n  tables:\n  - under_heading: a\n    label: A\n    edge: ''\n")
    assert error.data == {"file": ".kglite/vault.yaml", "line": 7, "key": "structure.tables[0].edge"}


@pytest.mark.parametrize("name", sorted(RESERVED_PROPERTIES | OWN_PROPERTIES))
def test_no_property_that_parts_have_is_copied_to_them(refused_words, name):
    assert f"`structure.inherit[0]` is `{name}`, " in refused_words(f"structure: {{inherit: [{name}]}}\n")


def test_a_pattern_that_would_fill_the_memory_is_refused(refused_words):
    words = refused_words("structure: {ordered_lists: {under_heading: '(a{1000}){1000}'}}\n")
    assert "under_heading` is not a regular expression: Compiled regex exceeds size limit" in words


@pytest.mark.parametrize(("length", "accepted"), [(500, True), (501, False)])
def test_a_pattern_has_at_most_five_hundred_characters(structure, refused_words, length, accepted):
    text = f"{{ordered_lists: {{under_heading: {'a' * length}}}}}"
    if accepted:
        assert structure(text).ordered_lists.under_heading == "a" * length
    else:
        assert refused_words(f"structure: {text}\n").endswith("has 501 characters; a pattern has at most 500.")


def test_a_template_has_at_most_two_thousand_characters(refused_words):
    words = refused_words(f"structure: {{embed_text: '{'a' * 2001}'}}\n")
    assert words == "2: `structure.embed_text` has 2001 characters; a template has at most 2000."


def test_there_are_not_more_rules_for_tables_than_anyone_writes(refused_words):
    rules = ", ".join(["{under_heading: a, label: A}"] * (MOST_TABLE_RULES + 1))
    assert refused_words(f"structure: {{tables: [{rules}]}}\n") == (
        "2: `structure.tables` has 51 rules; at most 50 are read."
    )
