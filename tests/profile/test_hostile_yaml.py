"""Configuration from a stranger: aliases, nesting, size and odd characters are refused in words, and at once."""

import pytest

from vaultgraph.errors import ProfileError
from vaultgraph.profile.yaml_tree import MOST_BYTES, MOST_DEPTH, MOST_VALUES, read_tree

FILE = ".kglite/vault.yaml"
TOO_MANY = f"{FILE}:1: holds more than {MOST_VALUES} values, those behind aliases counted."


def refused(text: str | bytes) -> str:
    with pytest.raises(ProfileError) as caught:
        read_tree(FILE, text if isinstance(text, bytes) else text.encode())
    return caught.value.message


def test_aliases_that_multiply_are_counted_as_what_they_stand_for():
    levels = [f"l{at}: &l{at} [{', '.join([f'*l{at - 1}'] * 10)}]" for at in range(1, 30)]
    assert refused("\n".join(["l0: &l0 [x]", *levels])) == TOO_MANY


def test_aliases_in_keys_are_counted_too():
    levels = [f"l{at}: &l{at} {{? *l{at - 1} : *l{at - 1}}}" for at in range(1, 30)]
    assert refused("\n".join(["l0: &l0 x", *levels])) == TOO_MANY


def test_wide_lists_behind_many_aliases_are_counted():
    wide = ", ".join(["x"] * 20_000)
    assert refused(f"a: &a [{wide}]\nb: [{', '.join(['*a'] * 20_000)}]\n") == TOO_MANY


@pytest.mark.parametrize("text", ["types: &a {N: *a}\n", "&a\ntypes: *a\n"])
def test_what_contains_itself_is_refused(text):
    assert "is nested too deeply: more than 50 levels." in refused(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: " + "[" * 100_000, 1),
        ("a: " + "[" * 900 + "]" * 900, 1),
        ("a: " + "{a: " * 20_000, 1),
        ("- " * 20_000, 1),
        ("? " * 20_000, 1),
        ("x: 1\n" + "".join(" " * at + "a:\n" for at in range(600)), MOST_DEPTH + 3),
    ],
)
def test_deep_nesting_is_refused(text, line):
    assert refused(text).startswith(f"{FILE}:{line}: is nested too deeply")


def test_nesting_as_deep_as_allowed_is_read():
    root = read_tree(FILE, ("a: " + "[" * (MOST_DEPTH - 1) + "]" * (MOST_DEPTH - 1)).encode())
    value = root.mapping()["a"].plain()
    depth = 0
    while value:
        value, depth = value[0], depth + 1
    assert depth == MOST_DEPTH - 2


def test_an_alias_is_as_good_as_what_it_stands_for(load):
    profile = load("default_label: &a Thing\nhubs: {x: &h {label: *a}, y: *h}\n")
    assert profile.hubs["x"] == profile.hubs["y"]
    assert profile.hubs["y"].label == profile.default_label == "Thing"


def test_a_large_file_is_refused_by_its_size():
    size = MOST_BYTES + 1
    assert refused(b"#" * size) == f"{FILE}:1: has {size} bytes; at most {MOST_BYTES} are read."
    assert read_tree(FILE, b"#" * MOST_BYTES).is_null


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a: 1\nb: \xff\n", "2: is not UTF-8. Save the file as UTF-8."),
        ("a: \U0001f600\nb: 1\nc: \x07\n", "3: is not valid YAML: it holds a control character."),
        (
            "a: 1\n---\nb: 2\n",
            "2: is not valid YAML: expected a single document in the stream, but found another document.",
        ),
        ("a: *b\n", "1: is not valid YAML: found undefined alias."),
        ("a: &b 1\nc: &b 2\n", "2: is not valid YAML: found duplicate anchor; first occurrence, second occurrence."),
        ("a: 'x\n", "2: is not valid YAML: while scanning a quoted scalar, found unexpected end of stream."),
        (
            "a:\n\t- b\n",
            "2: is not valid YAML: while scanning for the next token, found character that cannot start any token.",
        ),
    ],
)
def test_what_is_no_yaml_is_refused_with_its_line(data, words):
    assert refused(data) == f"{FILE}:{words}"


def test_a_tag_does_not_make_an_object():
    entry = read_tree(FILE, b"a: !!python/object/apply:os.system ['x']\nb: !!str 5\nc: !!int '5'\n").mapping()
    assert entry["a"].texts() == ("x",)
    assert entry["b"].text() == "5"
    assert entry["c"].text() == "5"


def test_what_a_refusal_shows_is_short_and_in_one_line(refusal):
    error = refusal('"' + "x" * 1_000 + '": 1\n')
    assert error.data["key"] == "x" * 59 + "…"
    assert len(error.message) < 500
    assert "`a\\nb\\x1b[31m` is not a known key" in refusal(r'"a\nb\e[31m": 1' + "\n").message
    assert refusal(f"label_from: {'y' * 10_000}\n").message.endswith("…`; use one of type, folder.")


def test_a_merge_key_is_a_key_like_any_other(refusal):
    assert "`<<` is not a known key" in refusal("hubs: &h {}\n<<: *h\n").message


def test_many_keys_are_read_one_after_the_other(load):
    hubs = "".join(f"  key{at}: {{label: L{at}}}\n" for at in range(5_000))
    assert load("hubs:\n" + hubs).hubs["key4999"].label == "L4999"
