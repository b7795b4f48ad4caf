"""The vault's configuration files: what they may say, and how a wrong one is refused."""

from collections.abc import Callable

import pytest

from vaultgraph.errors import ProfileError
from vaultgraph.profile.settings import FolderNotes, Hub, Profile
from vaultgraph.profile.vault_yaml import OWN_FILE, VAULT_FILE, VAULT_KEYS, load_profile

Loader = Callable[..., Profile]


@pytest.fixture
def load() -> Loader:
    """Load a profile from the texts of the two files; ``vault`` follows `kglite_vault: 1` on line 1."""

    def run(vault: str | bytes | None = None, own: str | None = None, *, version: str = "kglite_vault: 1\n") -> Profile:
        data = vault if isinstance(vault, bytes) else None if vault is None else (version + vault).encode()
        files = {VAULT_FILE: data, OWN_FILE: own.encode() if own is not None else None}
        return load_profile(files.get)

    return run


def refusal(load: Loader, *args: object, **options: object) -> ProfileError:
    """The error of loading."""
    with pytest.raises(ProfileError) as caught:
        load(*args, **options)
    return caught.value


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
    assert load(None, "note_label: Page\ncanvas: false\nresolution: obsidian\n") == Profile(
        note_label="Page", canvas=False, resolution="obsidian"
    )


def test_keys_without_effect_are_read_and_named(load):
    text = "body: full\ntext_indexes: {Note: [body]}\nembed: {Note: body}\nindexes: {Note: [title, {range: year}]}\n"
    profile = load(text, "language: de\n")
    assert profile == Profile(
        body="full",
        text_indexes={"Note": ("body",)},
        embed={"Note": "body"},
        indexes={"Note": ("title", "year")},
        language="de",
        ignored_keys=("body", "indexes", "text_indexes", "embed", "language"),
    )


def test_a_key_with_nothing_written_is_as_good_as_absent(load):
    assert load("skip_dirs:\nhubs: ~\ndefault_label: null\nfolder_notes: {edge: }\n") == Profile()


def test_words_that_old_yaml_took_for_booleans_are_text(load):
    assert load("default_label: Yes\n").default_label == "Yes"
    assert load("default_label: 2020-01-01\n").default_label == "2020-01-01"


def test_an_unknown_key_is_refused_with_file_line_key_and_the_accepted_keys(load):
    error = refusal(load, "default_label: A\nfoo: 1\n")
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
def test_a_wrong_shape_is_refused_where_it_stands(load, text, line, key, part):
    error = refusal(load, text)
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
def test_the_version_is_checked_first(load, text, part):
    assert part in refusal(load, text, version="").message


@pytest.mark.parametrize("text", ["- a\n", "just text\n"])
def test_a_file_that_is_no_mapping_is_refused(load, text):
    assert "must be a mapping" in refusal(load, text, version="").message


def test_broken_yaml_is_refused_with_its_line(load):
    error = refusal(load, "hubs: {a: [\n")
    assert error.data["file"] == VAULT_FILE
    assert error.data["line"] == 3
    assert "is not valid YAML" in error.message


@pytest.mark.parametrize("data", [b"a: 1\nb: \xff\n", b"a: \x00\n", b"a: 1\n---\nb: 2\n", b"a: " + b"[" * 20000])
def test_bytes_that_are_no_yaml_text_are_refused_without_a_crash(load, data):
    assert refusal(load, data).code == "profile"


def test_an_error_in_our_own_file_names_it(load):
    error = refusal(load, None, "canvas: 1\n")
    assert error.data == {"file": OWN_FILE, "line": 1, "key": "canvas"}
    assert refusal(load, None, "kglite_vault: 1\n").data["key"] == "kglite_vault"
