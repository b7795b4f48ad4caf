"""A note by path, id, title or alias: one that is meant, several as candidates, none with what is near."""

import pytest

FILES = {
    "Home.md": "---\naliases: [Start]\nid: quay-1\ntitle: The quay\n---\n# Home\n",
    "A/Same.md": "a",
    "B/Same.md": "b",
    "A/Note.md": "---\naliases: [Twin]\n---\nx",
    "B/Other.md": "---\naliases: [Twin]\n---\ny",
}


@pytest.fixture
def vault(local, write):
    return local(write(FILES))


@pytest.mark.parametrize(
    "name", ["Home.md", "home", "quay-1", "QUAY-1", "The quay", "start", "[[Start]]", "[[The quay|shown]]"]
)
def test_a_note_is_found_by_each_of_its_names(vault, name):
    assert vault.text("read_source", file_path=name).startswith("Home.md  (6 lines)")


@pytest.mark.parametrize(
    ("name", "candidates"), [("Same", ["A/Same.md", "B/Same.md"]), ("twin", ["A/Note.md", "B/Other.md"])]
)
def test_several_notes_of_a_name_are_the_answer_never_a_guess(vault, name, candidates):
    message = vault.error("read_source", file_path=name)
    assert message == f"parameter: 2 notes are called `{name}`; ask for one by its path:\n  " + "\n  ".join(candidates)


@pytest.mark.parametrize(
    ("name", "near"),
    [("Strat", "Home.md"), ("quay-2", "Home.md"), ("The qauy", "Home.md"), ("Twinn", "A/Note.md or B/Other.md")],
)
def test_a_near_miss_names_every_note_that_is_called_so(vault, name, near):
    assert vault.error("read_source", file_path=name).endswith(f"not in the vault. Did you mean {near}?")


def test_files_are_not_called_folders(vault):
    assert vault.error("list_source", path="Same").startswith("parameter: 2 files are called `Same`")


def test_before_the_graph_is_built_a_miss_says_what_is_not_known_yet(local, write):
    vault = local(write({**FILES, ".kglite/vault.yaml": "kglite_vault: 9\n"}))
    assert vault.text("read_source", file_path="home").startswith("Home.md  (")
    message = vault.error("read_source", file_path="The quay")
    assert message.startswith("not_found: ")
    assert "until it is, a note is found by its path or file name only" in message
