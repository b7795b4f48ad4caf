"""Most of a cache file is read when a query first needs it; damage found then costs a rebuild, no wrong answer."""

import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from vaultgraph.errors import ProfileError
from vaultgraph.graph.stored_late import LateSegment
from vaultgraph.vault.vault import open_vault

QUERIES = (
    "MATCH (n) RETURN labels(n), properties(n) ORDER BY n.id",
    "MATCH (a)-[r]->(b) RETURN a.id, type(r), b.id, properties(r) ORDER BY a.id, b.id, type(r), r.line",
    "MATCH (a)<-[r]-(b) RETURN a.id, b.id ORDER BY a.id, b.id, r.line",
    "CALL vault.problems()",
    "CALL vault.headings()",
    "CALL vault.links()",
)


def many_notes() -> dict[str, str]:
    """Enough that texts are shared and numbers packed."""
    return {
        f"note {number:03}.md": f"---\nrating: {number}\ntags: [t{number % 5}]\nflag: {number % 2 == 0}\n---\n"
        f"# Note {number}\n\n## Part {number % 7}\n\n"
        f"[[note {number * 7 % 150:03}#Part|shown]] [[nothing {number % 3}]]\n"
        for number in range(150)
    } | {"picture.png": "no picture"}


@pytest.fixture
def cached(write) -> Path:
    folder = write(many_notes())
    with open_vault(folder):
        pass
    return folder


def sections(cache: Path) -> list[tuple[str, int, int]]:
    """Name, offset and length of each section that holds something."""
    data = cache.read_bytes()
    offset, length = struct.unpack_from("<QQ", data, 16)
    return [tuple(row[:3]) for row in json.loads(data[offset : offset + length])["sections"] if row[2]]


def harm(cache: Path, offset: int) -> None:
    """Change one byte in place, as a failing disk does."""
    with cache.open("r+b") as file:
        file.seek(offset)
        (byte,) = file.read(1)
        file.seek(offset)
        file.write(bytes([byte ^ 0x10]))


def answers(vault) -> list[list]:
    return [vault.query(text).rows for text in QUERIES]


def test_a_start_reads_the_paths_and_a_query_what_it_needs(cached):
    with open_vault(cached) as vault:
        graph = vault.current().graph
        read = {
            key
            for key, column in graph.node_columns.items()
            for segment in column.segments
            if not isinstance(segment, LateSegment) or segment.is_read
        }
        assert read == {"path", "mtime"}
        assert vault.query("MATCH (n:Note) WHERE n.rating = 7 RETURN n.path").rows == [("note 007.md",)]
        assert not any(segment.is_read for segment in graph.node_columns["title"].segments)


def test_damage_of_any_part_after_the_start_is_found_before_it_is_answered_from(cached):
    cache = cached / ".kglite/graph.kgl"
    good = cache.read_bytes()
    with open_vault(cached, None) as vault:
        right = answers(vault)
    places = sections(cache)
    assert {"texts.late", "relationships.targets", "records.links.note", "pool.integer"} <= {row[0] for row in places}
    late = 0
    for _, offset, length in places[:: max(1, len(places) // 40)]:
        cache.write_bytes(good)
        with open_vault(cached) as vault:
            assert vault.report.origin == "cache"
            harm(cache, offset + length // 2)
            assert answers(vault) == right
            report = vault.report
            late += report.origin == "built"
            assert (report.origin == "built") == bool(report.cache)
    assert late > 10


@pytest.mark.parametrize("name", ["texts.late", "relationships.sources", "pool.integer"])
def test_an_edit_after_damage_is_taken_in_by_building_anew(cached, name):
    cache = cached / ".kglite/graph.kgl"
    (place,) = [(offset, length) for found, offset, length in sections(cache) if found == name]
    with open_vault(cached) as vault:
        harm(cache, place[0] + place[1] // 2)
        (cached / "note 003.md").write_text("[[note 004]]", encoding="utf-8")
        assert vault.refresh().origin == "built"
        assert "damaged" in (vault.report.cache or "")
        links = "MATCH (:Note {stem: 'note 003'})-[:LINKS_TO]->(b) RETURN b.path"
        assert vault.query(links).rows == [("note 004.md",)]


def test_after_an_edit_was_taken_in_nothing_but_the_bodies_is_needed_of_the_file(cached):
    cache = cached / ".kglite/graph.kgl"
    with open_vault(cached) as vault:
        (cached / "note 003.md").write_text("[[note 004]]", encoding="utf-8")
        vault.refresh()
        for name, offset, length in sections(cache):
            if not name.startswith("records.notes.body"):
                harm(cache, offset + length // 2)
        said = answers(vault)
        assert vault.report.origin == "refreshed"
    with open_vault(cached, None) as vault:
        assert said == answers(vault)


def test_a_command_on_a_damaged_cache_lists_what_the_notes_say(cached):
    cache = cached / ".kglite/graph.kgl"
    (place,) = [(offset, length) for found, offset, length in sections(cache) if found == "texts.late"]
    harm(cache, place[0] + place[1] // 2)
    command = [sys.executable, "-m", "vaultgraph.cli.main", "links", str(cached), "Note 3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "note 021.md" in done.stdout


def test_damage_of_any_part_before_the_start_is_found_where_parts_of_notes_are_nodes(write):
    folder = write(many_notes() | {".kglite/vault.yaml": "kglite_vault: 1\nstructure: {sections: {}}\n"})
    with open_vault(folder):
        pass
    cache = folder / ".kglite/graph.kgl"
    good = cache.read_bytes()
    with open_vault(folder, None) as vault:
        right = answers(vault)
    # Describing the graph at the start reads these: how many of each kind of part there are.
    names = ("texts.late", "records.links.target.places", "records.pieces.kind", "records.pieces.text.places")
    places = {name: (offset, length) for name, offset, length in sections(cache)}
    for name in names:
        cache.write_bytes(good)
        harm(cache, places[name][0] + places[name][1] // 2)
        with open_vault(folder) as vault:
            assert answers(vault) == right
            assert vault.report.origin == "built"
            assert "damaged" in (vault.report.cache or "")


def test_a_damaged_cache_of_a_vault_whose_configuration_is_refused_says_what_to_correct(cached):
    rules = cached / ".kglite/vault.yaml"
    with open_vault(cached, None) as vault:
        right = answers(vault)
    with open_vault(cached) as vault:
        (cached / ".kglite/graph.kgl").write_bytes(b"")  # cut while it is open
        rules.write_text("kglite_vault: [", encoding="utf-8")
        for text in (QUERIES[1], QUERIES[1], QUERIES[0]):
            with pytest.raises(ProfileError, match=r"vault\.yaml"):
                vault.query(text)
        rules.unlink()
        assert answers(vault) == right
        assert vault.report.origin == "built"
