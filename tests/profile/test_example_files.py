"""The example configuration: copying it changes nothing, and everything it shows can be switched on."""

import re
from pathlib import Path

import pytest

from vaultgraph.profile.guidance import read_guidance
from vaultgraph.profile.settings import Profile, Structure
from vaultgraph.profile.vault_yaml import OWN_KEYS, VAULT_KEYS

EXAMPLE = Path(__file__).resolve().parents[2] / ".kglite-example"


def switched_on(text: str, known: tuple[str, ...]) -> str:
    """``text`` with the keys in comments instead of those stated; below a key, three blanks follow the "#"."""
    kept: dict[str, list[str]] = {}
    key = ""
    for line in text.splitlines():
        shown = re.match(r"# (?=(\w+):)", line)
        stated = re.match(r"(\w+):", line)
        if shown and shown[1] in known:
            key = shown[1]
            kept[key] = [line[2:]]
        elif stated:
            key = stated[1]
            kept[key] = [line]
        elif key and line.startswith("#   "):
            kept[key].append(line[2:])
        elif key and line.startswith(" "):
            kept[key].append(line)
        else:
            key = ""
    return "\n".join(line for lines in kept.values() for line in lines) + "\n"


@pytest.fixture
def texts() -> tuple[str, str]:
    vault, own = ((EXAMPLE / name).read_text(encoding="utf-8") for name in ("vault.yaml", "vaultgraph.yaml"))
    return vault, own


def test_copying_the_example_changes_nothing(load, texts):
    assert load(texts[0], texts[1], version="") == Profile()


def test_the_example_shows_every_key(texts):
    for text, keys in zip(texts, (VAULT_KEYS, OWN_KEYS), strict=True):
        assert [key for key in keys if not re.search(rf"(?m)^(# )?{key}:", text)] == []


def test_everything_the_example_shows_can_be_switched_on(load, texts):
    vault, own = switched_on(texts[0], VAULT_KEYS), switched_on(texts[1], OWN_KEYS)
    profile = load(vault, own, version="")
    assert [key for key in VAULT_KEYS if not re.search(rf"(?m)^{key}:", vault)] == []
    assert profile.ignored_keys == ("body", "text_indexes", "embed", "language")
    assert profile.reading.inline_fields
    assert profile.reading.tasks
    assert profile.ontology
    assert set(profile.ontology.classes) == {"Work", "Book"}
    assert profile.edge_tables == {"SAILED_WITH": "Crew"}
    assert profile.tag_labels["topic"].label == "Topic"


def test_the_rules_it_shows_are_the_defaults_where_it_says_so(load, texts):
    shown = load(switched_on(texts[0], VAULT_KEYS), version="").reading.structure
    written = "structure: {sections: , chunks: , callouts: , code_fences: , ordered_lists: , key_from_heading: "
    plain = load(written + "{under_label: Api}}\n").reading.structure
    assert isinstance(shown, Structure)
    assert (shown.sections, shown.chunks, shown.callouts) == (plain.sections, plain.chunks, plain.callouts)
    assert shown.key_from_heading == plain.key_from_heading
    assert shown.ordered_lists.container == plain.ordered_lists.container
    assert [(rule.edge, rule.edges) for rule in shown.tables] == [("HAS_PARAMETER", False), ("SAILED_WITH", True)]


def test_the_guidance_of_the_example_loads():
    paths = [path for folder in ("skills", "recipes") for path in (EXAMPLE / folder).iterdir()]
    found = read_guidance({f".kglite/{path.relative_to(EXAMPLE).as_posix()}": path.read_bytes() for path in paths})
    assert [skill.name for skill in found.skills] == ["how_this_vault_works"]
    assert [(recipe.recipe, recipe.name) for recipe in found.recipes] == [("notes", "notes_linking_to")]
    assert found.problems == ()
