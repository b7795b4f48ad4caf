"""Files that a cloud service keeps elsewhere: never opened, known as they were, read as soon as they are here."""

import os
from pathlib import Path

import pytest

import vaultgraph
from vaultgraph.errors import FileError

BODIES = "MATCH (n:Note) RETURN n.path, n.title ORDER BY n.path"
LONG = "\n\n" + "words of a note that is not small " * 200


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what is opened from now on."""
    names: list[str] = []
    real = os.open

    def recording(path, *arguments, **more):
        names.append(os.fspath(path))
        return real(path, *arguments, **more)

    monkeypatch.setattr(os, "open", recording)
    return names


def evict(note: Path) -> None:
    """Leave the size and take the content, as cloud services do."""
    size_bytes = note.stat().st_size
    note.unlink()
    with note.open("wb") as file:
        file.truncate(size_bytes)
    if note.stat().st_blocks:
        pytest.skip("this file system stores empty ranges")


def problems(vault: vaultgraph.Vault) -> list[tuple[str, str]]:
    return vault.current().problems.select("path", "code").rows()


def test_a_note_that_went_to_the_cloud_is_known_as_it_was(write, opened: list[str]) -> None:
    folder = write({"A.md": f"# a\n[[B]]{LONG}", "B.md": f"# b{LONG}"})
    with vaultgraph.open(folder) as vault:
        assert vault.query(BODIES).rows == [("A.md", "a"), ("B.md", "b")]
        evict(folder / "A.md")
        opened.clear()
        vault.refresh()
        assert vault.query(BODIES).rows == [("A.md", "a"), ("B.md", "b")]
        assert vault.query("MATCH (:Note {stem: 'A'})-[:LINKS_TO]->(b) RETURN b.path").rows == [("B.md",)]
        assert problems(vault) == [("A.md", "offline")]
        with pytest.raises(FileError, match="in the cloud only"):
            vault.root.read_bytes("A.md", most_bytes=100_000)
        assert "A.md" not in opened
    with vaultgraph.open(folder) as vault:  # after a restart too
        assert vault.report.origin == "cache"
        assert vault.query(BODIES).rows == [("A.md", "a"), ("B.md", "b")]
        assert "A.md" not in opened
        write({"A.md": f"# here again{LONG}"})
        vault.refresh()
        assert vault.query(BODIES).rows == [("A.md", "here again"), ("B.md", "b")]
        assert problems(vault) == []


def test_a_note_that_was_never_here_is_a_note_without_content(write, opened: list[str]) -> None:
    folder = write({"A.md": f"# a\n[[B]]{LONG}", "B.md": f"# b{LONG}"})
    evict(folder / "B.md")
    with vaultgraph.open(folder, cache=None) as vault:
        assert vault.query("MATCH (:Note {stem: 'A'})-[:LINKS_TO]->(b:Note) RETURN b.path, b.body").rows == [
            ("B.md", None)
        ]
        assert problems(vault) == [("B.md", "offline")]
    assert "B.md" not in opened


def test_a_note_replaced_by_its_stub_is_known_as_it_was(write, opened: list[str]) -> None:
    folder = write({"A.md": "# a", "B.md": "# b"})
    with vaultgraph.open(folder, cache=None) as vault:
        (folder / "A.md").unlink()
        write({".A.md.icloud": "stub"})
        opened.clear()
        vault.refresh()
        assert vault.query(BODIES).rows == [("A.md", "a"), ("B.md", "b")]
        assert problems(vault) == [("A.md", "offline")]
        assert ".A.md.icloud" not in opened
