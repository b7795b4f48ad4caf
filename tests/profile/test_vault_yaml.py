"""The vault's configuration files: what they may say, and how a wrong one is refused."""

import pytest

from vaultgraph.profile.settings import FolderNotes, Hub, Profile, Reading, Tasks
from vaultgraph.profile.vault_yaml import OWN_FILE, OWN_KEYS, VAULT_FILE, VAULT_KEYS


def test_a_vault_without_files_has_the_default_profile(load):
    assert load() == Profile()


@pytest.mark.parametrize("text", ["", "# only a comment\n", "\ufeff", "---\n"])
def test_an_empty_file_is_as_good_as_none(load, text):
    assert load(text, text, version="") == Profile()


def test_every_key_of_this_version_is_read(load):
    profile = load(
        """
default_label: Thing
label_from: folder
skip_dirs: [Templates, a/b]
folder_notes: {edge: PART_OF, direction: parent_to_child}
hubs:
  author: {label: Person, edge: BY, case_insensitive: true}
  topic: {}
heading_edges: {See Also: RELATED, STRASSE: VIA, größe: SIZE}
types:
  Person: {born: date, age: int}
"""
    )
    assert profile == Profile(
        default_label="Thing",
        label_from="folder",
        skip_dirs=("Templates", "a/b"),
        folder_notes=FolderNotes("PART_OF", "parent_to_child"),
        hubs={"author": Hub("Person", "BY", case_insensitive=True), "topic": Hub("Tag", "TAGGED")},
        heading_edges={"see also": "RELATED", "strasse": "VIA", "grösse": "SIZE"},
        types={"Person": {"born": "date", "age": "int"}},
    )


def test_our_own_keys_live_in_their_own_file(load):
    own = """
note_label: Page
canvas: false
resolution: obsidian
inline_fields: true
tasks: {label: To do, edge: HAS_TO_DO}
"""
    assert load(None, own) == Profile(
        note_label="Page",
        canvas=False,
        resolution="obsidian",
        reading=Reading(inline_fields=True, tasks=Tasks("To do", "HAS_TO_DO")),
    )


@pytest.mark.parametrize(
    ("written", "tasks"),
    [
        ("true", Tasks("Task", "HAS_TASK")),
        ("{}", Tasks("Task", "HAS_TASK")),
        ("{label: }", Tasks("Task", "HAS_TASK")),
        ("{edge: ASKS}", Tasks("Task", "ASKS")),
        ("false", None),
        ("", None),
        ("null", None),
    ],
)
def test_tasks_are_on_with_true_or_a_mapping(load, written, tasks):
    assert load(None, f"tasks: {written}\n").reading == Reading(tasks=tasks)


def test_keys_without_effect_are_read_and_named(load):
    text = "body: full\ntext_indexes: {Note: [body]}\nembed: {Note: body}\nindexes: {Note: [title, {range: year}]}\n"
    profile = load(text, "language: de\n")
    assert profile == Profile(
        body="full",
        text_indexes={"Note": ("body",)},
        embed={"Note": "body"},
        indexes={"Note": ("title", "year")},
        language="de",
        ignored_keys=("body", "text_indexes", "embed", "language"),
    )


def test_a_key_with_nothing_written_is_as_good_as_absent(load):
    assert load("skip_dirs:\nhubs: ~\ndefault_label: null\nfolder_notes: {edge: }\n") == Profile()


def test_words_that_old_yaml_took_for_booleans_are_text(load):
    assert load("default_label: Yes\n").default_label == "Yes"
    assert load("default_label: 2020-01-01\n").default_label == "2020-01-01"


def test_an_unknown_key_is_refused_with_file_line_key_and_the_accepted_keys(refusal):
    error = refusal("default_label: A\nfoo: 1\n")
    assert error.data == {"file": VAULT_FILE, "line": 3, "key": "foo"}
    assert error.message.startswith(".kglite/vault.yaml:3: `foo` is not a known key. Accepted here: kglite_vault,")
    assert all(key in error.message for key in VAULT_KEYS)


@pytest.mark.parametrize(
    ("text", "line", "key", "part"),
    [
        ("hubs:\n  a: P\n", 3, "hubs.a", "must be a mapping, not a string (`P`)"),
        ("hubs:\n  a: {label: P, x: 1}\n", 3, "hubs.a.x", "label, edge, case_insensitive"),
        ("hubs: {a: {case_insensitive: 1}}\n", 2, "hubs.a.case_insensitive", "true or false, not an integer"),
        ("folder_notes: false\n", 2, "folder_notes", "must be a mapping, not a boolean"),
        ("folder_notes: {direction: up}\n", 2, "folder_notes.direction", "child_to_parent, parent_to_child"),
        ("label_from: tag\n", 2, "label_from", "`tag`; use one of type, folder"),
        ("default_label: 3\n", 2, "default_label", "must be a string, not an integer (`3`)"),
        ("default_label: ''\n", 2, "default_label", "must not be empty"),
        ("default_label: 1.5\n", 2, "default_label", "not a number"),
        ("skip_dirs: a\n", 2, "skip_dirs", "must be a list of strings, not a string"),
        ("skip_dirs:\n- a\n- 1\n", 4, "skip_dirs[1]", "must be a string, not an integer"),
        ("heading_edges: [a]\n", 2, "heading_edges", "must be a mapping, not a list"),
        ("heading_edges: {A: X, a: Y}\n", 2, "heading_edges.a", "other letter case"),
        ("types: {N: int}\n", 2, "types.N", "must be a mapping"),
        ("types:\n  N:\n    a: foo\n", 4, "types.N.a", "string, int, float, bool, date, datetime, list"),
        ("structure: 3\n", 2, "structure", "must be a mapping"),
        ("body: true\n", 2, "body", "must be a string"),
        ("skip_dirs: [a]\nskip_dirs: [b]\n", 3, "skip_dirs", "is written twice"),
        ("? [a]\n: b\n", 2, "", "has a key that is not text"),
    ],
)
def test_a_wrong_shape_is_refused_where_it_stands(refusal, text, line, key, part):
    error = refusal(text)
    assert (error.data["line"], error.data["key"]) == (line, key)
    assert part in error.message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("kglite_vault: 2\nother: 1\n", "is 2; this reader knows version 1"),
        ('kglite_vault: "1"\n', "must be an integer, not a string"),
        ("kglite_vault:\n", "must be an integer, not nothing"),
        ("kglite_vault: true\n", "must be an integer"),
        (f"kglite_vault: {'9' * 5000}\n", "too large"),
        ("default_label: A\n", "`kglite_vault` is missing. Write `kglite_vault: 1`"),
    ],
)
def test_the_version_is_checked_first(refusal, text, part):
    assert part in refusal(text, version="").message


@pytest.mark.parametrize("text", ["- a\n", "just text\n"])
def test_a_file_that_is_no_mapping_is_refused(refusal, text):
    assert "must be a mapping" in refusal(text, version="").message


def test_broken_yaml_is_refused_with_its_line(refusal):
    error = refusal("hubs: {a: [\n")
    assert error.data["file"] == VAULT_FILE
    assert error.data["line"] == 3
    assert "is not valid YAML" in error.message


@pytest.mark.parametrize("data", [b"a: 1\nb: \xff\n", b"a: \x00\n", b"a: 1\n---\nb: 2\n", b"a: " + b"[" * 20000])
def test_bytes_that_are_no_yaml_text_are_refused_without_a_crash(refusal, data):
    assert refusal(data).code == "profile"


def test_an_error_in_our_own_file_names_it(refusal):
    error = refusal(None, "canvas: 1\n")
    assert error.data == {"file": OWN_FILE, "line": 1, "key": "canvas"}
    assert error.message == ".kglite/vaultgraph.yaml:1: `canvas` must be true or false, not an integer (`1`)."


def test_a_key_of_the_other_file_is_sent_there(refusal):
    message = refusal("tasks: true\n").message
    assert message.startswith(".kglite/vault.yaml:")
    assert message.endswith(": `tasks` is a key of .kglite/vaultgraph.yaml and not of this file. Move it there.")


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ("kglite_vault: 1\n", "1: `kglite_vault` is a key of .kglite/vault.yaml and not of this file. Move it there."),
        (
            "tesks: true\n",
            f"1: `tesks` is not a known key. Did you mean `tasks`? Accepted here: {', '.join(OWN_KEYS)}.",
        ),
        ("\ntasks: {name: T}\n", "2: `tasks.name` is not a known key. Accepted here: label, edge."),
        ("tasks: Task\n", "1: `tasks` must be a mapping, not a string (`Task`)."),
        ("tasks: {label: ''}\n", "1: `tasks.label` must not be empty."),
        ("inline_fields: {}\n", "1: `inline_fields` must be true or false, not a mapping."),
        ("inline_fields: yes\n", "1: `inline_fields` must be true or false, not a string (`yes`)."),
        ("language: [en]\n", "1: `language` must be a string, not a list."),
        ("resolution: strict\n", "1: `resolution` is `strict`; use one of obsidian, forgiving."),
        ('note_label: "a\\tb"\n', "1: `note_label` must not hold line breaks or control characters."),
    ],
)
def test_wrong_keys_of_ours_are_refused(refusal, own, words):
    assert refusal(None, own).message == f"{OWN_FILE}:{words}"
