"""A note by path, id, title or alias, wherever a note is named: one that is meant, candidates of several, what is near.

A row for each tool and command that takes a note, so that a new one has to keep to the same rules.
"""

import json
import re

import pytest

from vaultgraph.cli.main import run
from vaultgraph.serve.operations import OPERATIONS

FILES = {
    "Home.md": "---\naliases: [Start]\nid: quay-1\ntitle: The quay\n---\n# Home\n\n[[A/Note]] and [[Nowhere]]. #sea\n",
    "A/Same.md": "# Of A\n",
    "B/Same.md": "# Of B\n",
    "A/Note.md": "---\naliases: [Twin]\n---\n# First\n\n[[Home]]\n",
    "B/Other.md": "---\naliases: [Twin]\n---\n# Second\n",
    "A/Plain.md": "no heading\n",
}
NAMES = ["Home.md", "Home", "home", "HOME.MD", "quay-1", "QUAY-1", "The quay", "the QUAY", "Start", "start"]
SEVERAL = {"Same": ["A/Same.md", "B/Same.md"], "twin": ["A/Note.md", "B/Other.md"]}
NEAR = {"Strat": "Home.md", "quay-2": "Home.md", "The qauy": "Home.md", "Hom": "Home.md", "Plian": "A/Plain.md"}
UNKNOWN = "nothing at all like it"


def read_source(vault, name):
    answer = vault.call("read_source", file_path=name)
    return answer.is_error, answer.text


def outline(vault, name):
    query = "CALL vault.outline($note) YIELD line, text RETURN line, text"
    answer = vault.call("cypher_query", query=query, params={"note": name})
    return answer.is_error, answer.text


def links(vault, name):
    answer = vault.call("links", note=name)
    return answer.is_error, answer.text


def command(word):
    def ask(vault, name):
        code = run([word, str(vault.session.root.path), name])
        said = vault.capture.readouterr()
        return code != 0, said.out + said.err

    return ask


WAYS = {
    "read_source": (read_source, "# Home"),
    "links": (links, "out\tA/Note.md\t8"),
    "vault.outline": (outline, "6\tHome"),
    "vaultgraph links": (command("links"), "A/Note"),
    "vaultgraph backlinks": (command("backlinks"), "A/Note.md"),
    "vaultgraph outline": (command("outline"), "Home"),
    "vaultgraph tags": (command("tags"), "sea"),
}
"""How each is asked about a note, and what its answer about Home.md holds."""
NO_NOTE = {
    "graph_overview": "labels and types",
    "cypher_query": "a query; properties name notes",
    "grep": "a glob of many files",
    "list_source": "a folder",
    "fetch_images": "images",
    "rebuild_graph": "nothing",
    "reload_graph": "nothing",
    "ping": "nothing",
    "list_recipe_queries": "a group of recipes",
    "run_recipe_query": "a recipe",
    "skill": "a skill",
    "expand_response": "an answer",
}
"""What the other tools take."""


@pytest.fixture
def served(local, write, capfd):
    vault = local(write(FILES))
    vault.capture = capfd
    return vault


def test_every_tool_is_known_to_take_a_note_or_not():
    assert set(OPERATIONS) == {*NO_NOTE, *WAYS} & set(OPERATIONS)
    assert not set(NO_NOTE) & set(WAYS)


@pytest.mark.parametrize("way", WAYS)
def test_each_of_a_notes_names_means_it(served, way):
    ask, words = WAYS[way]
    _, expected = ask(served, "Home.md")
    assert words in expected
    for name in NAMES:
        is_error, text = ask(served, name)
        assert not is_error, (name, text)
        assert _timeless(text) == _timeless(expected)


@pytest.mark.parametrize("way", WAYS)
def test_a_name_of_several_notes_is_answered_with_all_of_them(served, way):
    for name, paths in SEVERAL.items():
        is_error, text = WAYS[way][0](served, name)
        assert is_error
        assert re.findall(r"[AB]/\w+\.md", text) == paths
        assert "2 notes are called" in text
        assert "path" in text


@pytest.mark.parametrize("way", WAYS)
def test_a_near_miss_is_answered_with_the_note_that_may_be_meant(served, way):
    for name, path in NEAR.items():
        is_error, text = WAYS[way][0](served, name)
        assert is_error
        assert f"Did you mean {path}" in text
    is_error, text = WAYS[way][0](served, UNKNOWN)
    assert is_error
    assert "Did you mean" not in text
    assert UNKNOWN in text


@pytest.mark.parametrize("way", WAYS)
def test_a_note_without_what_is_asked_for_is_no_error(served, way):
    is_error, text = WAYS[way][0](served, "Plain")
    assert not is_error, text


def test_folders_and_images_have_candidates_and_near_misses_too(local, write, make_image):
    pictures = {"A/plan.png": make_image(), "B/plan.png": make_image((9, 9)), "A/sub/x.md": "x", "B/sub/y.md": "y"}
    served = local(write({**FILES, **pictures}))
    message = served.error("fetch_images", items=["plan.png"])
    assert "2 files are called so; ask for one by its path: A/plan.png, B/plan.png" in message
    assert "Did you mean A/plan.png" in served.error("fetch_images", items=["A/plann.png"])
    assert served.call("fetch_images", items=["a/PLAN.png"]).text.startswith("delivered 1")
    message = served.error("list_source", path="sub")
    assert re.findall(r"[AB]/sub", message) == ["A/sub", "B/sub"]
    assert "Did you mean A/sub" in served.error("list_source", path="A/sbu")
    assert "read_source" in served.error("list_source", path="Home")


def _timeless(text: str) -> str:
    return re.sub(r"gen \d+ · \d\S+Z", "", json.dumps(text))
