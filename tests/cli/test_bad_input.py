"""Folders, notes and caches as they should not be: each is answered, no note is lost, each says what to do."""

import json
import os
import stat

import pytest

COUNT = "MATCH (n:Note) RETURN count(n) AS notes"
NOTES = {"A.md": "# Alpha\n[[B]]", "B.md": "# Beta"}


@pytest.fixture
def count(vaultgraph):
    """The number of notes a query finds in a vault, and the finished command."""

    def ask(folder, *flags):
        done = vaultgraph("query", folder, COUNT, "--format", "json", *flags)
        assert done.code == 0, done.err
        return json.loads(done.out)[0]["notes"]

    return ask


def test_an_empty_vault_has_no_notes_and_no_problems(vaultgraph, count, folder):
    assert count(folder) == 0
    assert vaultgraph("check", folder, "--strict").code == 0


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"caf\xe9 [[B]]", "not-utf8"), (b"---\ntags: [a\n---\n[[B]]", ""), (b"---\n- a\n---\nx", "")],
)
def test_a_faulty_note_is_counted_and_reported_with_its_path(vaultgraph, count, write, content, code):
    folder = write({"sub/Odd.md": content, "B.md": "b"})
    assert count(folder) == 2
    report = json.loads(vaultgraph("check", folder, "--json").out)
    (problem,) = [row for row in report["problems"] if row["path"] == "sub/Odd.md"]
    assert code in problem["code"]
    assert problem["message"]


def test_a_byte_order_mark_is_no_content(vaultgraph, write):
    folder = write({"Bom.md": b"\xef\xbb\xbf---\ntitle: Real\n---\nx"})
    done = vaultgraph("query", folder, "MATCH (n:Note) RETURN n.title AS t", "--format", "json")
    assert json.loads(done.out) == [{"t": "Real"}]


def test_a_ten_megabyte_note_and_a_255_byte_name_are_notes_like_others(vaultgraph, count, write):
    folder = write({"Big.md": "word " * 2_000_000, "n" * 252 + ".md": "# Long", "海" * 84 + ".md": "wide"})
    assert count(folder) == 3
    done = vaultgraph("query", folder, "MATCH (n:Note) RETURN max(n.size_bytes) AS most", "--format", "json")
    assert json.loads(done.out) == [{"most": 10_000_000}]


def test_a_truncated_cache_is_built_again(vaultgraph, count, write):
    folder = write(NOTES)
    vaultgraph("build", folder)
    cache = folder / ".kglite" / "graph.kgl"
    whole = cache.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        cache.write_bytes(whole[:size])
        assert count(folder) == 2
    assert cache.read_bytes() == whole


def test_a_damaged_cache_is_built_again(vaultgraph, count, write):
    folder = write(NOTES)
    vaultgraph("build", folder)
    cache = folder / ".kglite" / "graph.kgl"
    whole = cache.read_bytes()
    for offset in range(0, len(whole), max(1, len(whole) // 12)):
        cache.write_bytes(whole[:offset] + b"\xff\x00\xff\x00" + whole[offset + 4 :])
        assert count(folder) == 2


def test_another_programs_file_is_never_overwritten(vaultgraph, count, write):
    folder = write({**NOTES, ".kglite/graph.kgl": b"KGLITE\x00somebody else's graph" * 10})
    cache = folder / ".kglite" / "graph.kgl"
    before = cache.read_bytes()
    assert count(folder) == 2
    done = vaultgraph("build", folder)
    assert done.code == 1
    assert cache.read_bytes() == before
    assert "graph.kgl" in done.out.split("cache: ")[1]


def test_a_folder_in_the_place_of_the_cache_is_left_alone(vaultgraph, count, write):
    folder = write({**NOTES, ".kglite/graph.kgl/keep.txt": "mine"})
    assert count(folder) == 2
    done = vaultgraph("build", folder)
    assert done.code == 1
    assert (folder / ".kglite" / "graph.kgl" / "keep.txt").read_text() == "mine"
    assert "cache: " in done.out


def test_a_cache_that_cannot_be_written_is_one_line_and_stops_no_query(vaultgraph, count, write):
    folder = write({**NOTES, ".kglite": "a file where the folder should be"})
    assert count(folder) == 2
    done = vaultgraph("build", folder)
    assert done.code == 1
    (line,) = [line for line in done.out.splitlines() if line.startswith("cache: ")]
    assert "--vault-cache" in line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write and read everywhere")
def test_a_read_only_vault_and_an_unreadable_one(vaultgraph, count, write):
    folder = write(NOTES)
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert count(folder) == 2
        assert vaultgraph("build", folder).code == 1
        folder.chmod(0)
        done = vaultgraph("check", folder)
        assert done.code == 1
        assert "cannot be read" in done.err
    finally:
        folder.chmod(stat.S_IRWXU)


def test_a_cache_elsewhere_leaves_the_vault_as_it_was(vaultgraph, count, write, tmp_path):
    folder = write(NOTES)
    cache = tmp_path / "caches" / "deep" / "vault.kgl"
    assert count(folder, "--vault-cache", str(cache)) == 2
    assert cache.is_file()
    assert "read from the cache" in vaultgraph("status", folder, "--vault-cache", cache).out
    assert sorted(path.name for path in folder.rglob("*")) == ["A.md", "B.md"]
