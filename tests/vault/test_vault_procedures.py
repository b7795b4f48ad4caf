"""The procedures of a vault, over notes and a profile."""

import pytest

from vaultgraph.vault.vault import open_vault

PROFILE = "kglite_vault: 1\nindexes:\n  Note: [status]\ntext_indexes:\n  Note: [body]\n"


@pytest.fixture
def vault(write):
    folder = write(
        {
            "A.md": "# One\n\ntext\n\n## Two\n\n[[B]] and [[Gone]]",
            "B.md": "see [[A]]",
            "C.md": "![[picture.png]]",
            ".kglite/vault.yaml": PROFILE,
        }
    )
    with open_vault(folder, None) as opened:
        yield opened


def test_an_outline_is_that_of_a_path(vault):
    assert vault.query("CALL vault.outline('A.md')").rows == [(1, 1, "One"), (5, 2, "Two")]
    rows = vault.query("MATCH (n:Note) CALL vault.outline(n.path) YIELD text RETURN n.path, text").rows
    assert rows == [("A.md", "One"), ("A.md", "Two")]


def test_orphans_are_notes_without_a_link_to_them(vault):
    assert vault.query("CALL vault.orphans()").rows == [("C.md", "C")]


def test_unresolved_links_are_told_with_their_place(vault):
    rows = vault.query("CALL vault.unresolved()").rows
    assert rows == [("Gone", "A.md", 7), ("picture.png", "C.md", 1)]


def test_indexes_are_those_the_profile_declares(vault):
    assert vault.query("SHOW INDEXES").rows == [
        ("range_Note", "RANGE", "Note", ["status"]),
        ("fulltext_Note", "FULLTEXT", "Note", ["body"]),
    ]
