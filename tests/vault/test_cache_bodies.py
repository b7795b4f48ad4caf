"""Bodies stay in the cache file until they are asked for; a file damaged meanwhile costs a rebuild, no wrong answer."""

from pathlib import Path

import pytest

from vaultgraph.graph import stored_records
from vaultgraph.graph.stored_late import LateSegment
from vaultgraph.vault.vault import open_vault

COUNT = "MATCH (n:Note) RETURN count(n)"
BODIES = "MATCH (n:Note) RETURN n.body ORDER BY n.path"
LONG = "words of the body, " * 30


@pytest.fixture
def cached(write) -> Path:
    folder = write({"a.md": f"# A\n{LONG}[[b]]", "b.md": f"# B\n{LONG}", "c.txt": "no note"})
    with open_vault(folder):
        pass
    return folder


def bodies(vault) -> list[str]:
    return [row[0] for row in vault.query(BODIES).rows]


def segment(vault) -> LateSegment:
    (found,) = vault.current().graph.node_columns["body"].segments
    return found


def damage(folder: Path) -> None:
    """Change a word of a body in place, as a program that writes into the file would."""
    path = folder / ".kglite/graph.kgl"
    data = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(data.rindex(b"words of the body"))
        file.write(b"WORDS")


def cut(folder: Path) -> None:
    path = folder / ".kglite/graph.kgl"
    with path.open("r+b") as file:
        file.truncate(100)


def test_a_start_from_the_cache_leaves_the_bodies_in_the_file(cached):
    with open_vault(cached) as vault:
        assert vault.query(COUNT).rows == [(2,)]
        assert vault.query("MATCH (n:Note {title: 'A'}) RETURN n.path").rows == [("a.md",)]
        facts = next(facts for facts in vault.current().schema.properties_of("Note") if facts.key == "body")
        assert (facts.types, facts.count, facts.total) == (("STRING",), 2, 2)
        bodies_of = segment(vault)
        assert isinstance(bodies_of, LateSegment)
        assert not bodies_of.is_read
        assert bodies(vault) == [f"# A\n{LONG}[[b]]", f"# B\n{LONG}"]


@pytest.mark.parametrize("harm", [damage, cut])
def test_a_cache_damaged_after_it_was_opened_is_rebuilt_and_said_once(cached, harm):
    with open_vault(cached) as vault:
        assert vault.report.origin == "cache"
        harm(cached)
        assert bodies(vault) == [f"# A\n{LONG}[[b]]", f"# B\n{LONG}"]
        assert vault.report.origin == "built"
        assert vault.report.cache is not None
        assert vault.report.cache.startswith("rebuilt: ")
        generation = vault.current().generation
        assert bodies(vault) == [f"# A\n{LONG}[[b]]", f"# B\n{LONG}"]
        assert vault.current().generation == generation
    with open_vault(cached) as vault:  # written anew when it was closed
        assert (vault.report.origin, vault.report.cache) == ("cache", None)


@pytest.mark.parametrize(("harm", "origin"), [(damage, "refreshed"), (cut, "built")])
def test_a_cache_found_damaged_during_or_after_a_refresh_is_rebuilt_from_the_notes(cached, harm, origin):
    with open_vault(cached) as vault:
        harm(cached)
        (cached / "a.md").write_text("# A\nnew [[b]]", encoding="utf-8")
        assert vault.refresh().origin == origin  # a refresh needs no bodies of other notes
        assert bodies(vault) == ["# A\nnew [[b]]", f"# B\n{LONG}"]
        assert vault.report.origin == "built"


def test_a_cache_replaced_by_another_server_is_no_damage(cached):
    with open_vault(cached) as vault:
        (cached / ".kglite/graph.kgl").unlink()
        assert bodies(vault) == [f"# A\n{LONG}[[b]]", f"# B\n{LONG}"]
        assert vault.report.origin == "cache"


@pytest.mark.parametrize("most_edited", [0, 1, 9])
def test_edits_leave_bodies_in_the_file_as_long_as_few_differ(cached, monkeypatch, most_edited):
    monkeypatch.setattr(stored_records, "_MOST_EDITED", most_edited)
    with open_vault(cached) as vault:
        for number, path in enumerate(("b.md", "a.md", "b.md")):
            (cached / path).write_text(f"# {path[0].upper()}\n{number}", encoding="utf-8")
            vault.refresh()
        found = vault.current().graph.node_columns["body"].segments[0]
        assert (isinstance(found, LateSegment) and not found.is_read) == (most_edited > 1)
        assert found.filled(0, 2) == 2
        assert bodies(vault) == ["# A\n1", "# B\n2"]
        assert vault.current().records.notes["body"].to_list() == ["# A\n1", "# B\n2"]


def test_an_edit_after_a_start_from_the_cache_keeps_the_other_bodies(cached):
    with open_vault(cached) as vault:
        (cached / "b.md").write_text("# B\nnew", encoding="utf-8")
        assert vault.refresh().parsed == 1
        assert bodies(vault) == [f"# A\n{LONG}[[b]]", "# B\nnew"]
    with open_vault(cached) as vault:
        assert vault.report.parsed == 0
        assert bodies(vault) == [f"# A\n{LONG}[[b]]", "# B\nnew"]
