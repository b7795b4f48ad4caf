"""The open vault: building, refreshing, caching, failing without losing anything."""

import gc
import json
import os
import shutil
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import vaultgraph
from vaultgraph.errors import BuildError, ProfileError, SettingsError

TITLES = "MATCH (n:Note) RETURN n.title AS title ORDER BY title"


def titles(vault):
    return [row["title"] for row in vault.query(TITLES).to_dicts()]


@pytest.fixture
def dated(write) -> Path:
    """A vault in which one of two notes holds no longer."""
    rules = "valid_time:\n  labels: [Note]\n"
    old = "---\nvalid_to: 2001-01-01\n---\n"
    return write({"A.md": old, "B.md": "b", ".kglite/vaultgraph.yaml": rules})


def test_a_folder_answers_queries_over_its_notes_and_links(write):
    folder = write({"A.md": "see [[B]] #x", "sub/B.md": "---\nrating: 3\n---\n# Bee"})
    with vaultgraph.open(folder, cache=None) as vault:
        rows = vault.query("MATCH (a:Note)-[r:LINKS_TO]->(b) RETURN a.path, b.path, b.rating, r.line").rows
        assert rows == [("A.md", "sub/B.md", 3, 1)]
        assert vault.report.notes == 2
        assert vault.report.origin == "built"
        assert vault.report.parsed == 2


def test_refresh_parses_only_what_changed(write):
    folder = write({"A.md": "[[B]]", "B.md": "b", "C.md": "c"})
    with vaultgraph.open(folder, cache=None) as vault:
        write({"B.md": "b grew", "D.md": "new"})
        (folder / "C.md").unlink()
        report = vault.refresh()
        assert report.parsed == 2
        assert report.origin == "refreshed"
        assert titles(vault) == ["A", "B", "D"]


def test_refresh_equals_a_fresh_build(write):
    folder = write({"A.md": "[[B]] [[N]]", "x/N.md": "one", "B.md": "---\ntags: [t]\n---\nb"})
    everything = (
        "MATCH (n) OPTIONAL MATCH (n)-[r]->(m) RETURN labels(n), n.id, n.title, type(r), m.id ORDER BY n.id, m.id"
    )
    with vaultgraph.open(folder, cache=None) as vault:
        write({"N.md": "now the shortest path", "A.md": "[[B]] [[N]] [[gone]]"})
        (folder / "B.md").rename(folder / "x" / "B.md")
        vault.refresh()
        with vaultgraph.open(folder, cache=None) as fresh:
            assert vault.query(everything).rows == fresh.query(everything).rows


def test_nothing_changed_keeps_the_generation(write):
    with vaultgraph.open(write({"A.md": "a"}), cache=None) as vault:
        first = vault.current().generation
        vault.refresh()
        assert vault.current().generation == first
        vault.rebuild()
        assert vault.current().generation == first + 1


def test_a_second_open_parses_nothing_even_with_new_times(write, tmp_path: Path):
    folder = write({"A.md": "[[B]]", "B.md": "b", "pic.png": b"\x89PNG"})
    with vaultgraph.open(folder) as vault:
        expected = vault.query("MATCH (n) RETURN n.id, labels(n) ORDER BY n.id").rows
    clone = tmp_path / "clone"
    shutil.copytree(folder, clone, copy_function=shutil.copyfile)
    with vaultgraph.open(clone) as vault:
        assert vault.report.origin == "cache"
        assert vault.report.parsed == 0
        assert vault.query("MATCH (n) RETURN n.id, labels(n) ORDER BY n.id").rows == expected


def test_an_edit_that_keeps_size_and_time_is_found_after_a_restart(write):
    folder = write({"A.md": "# aaaa"})
    with vaultgraph.open(folder) as vault:
        assert titles(vault) == ["aaaa"]
    times = (folder / "A.md").stat()
    write({"A.md": "# bbbb"})
    os.utime(folder / "A.md", ns=(times.st_atime_ns, times.st_mtime_ns))
    with vaultgraph.open(folder) as vault:
        assert titles(vault) == ["bbbb"]
        assert vault.report.parsed == 1


def test_a_cached_vault_still_has_modification_times(write):
    folder = write({"A.md": "a"})
    with vaultgraph.open(folder) as vault:
        before = vault.query("MATCH (n:Note) RETURN n.mtime").rows
    with vaultgraph.open(folder) as vault:
        assert vault.query("MATCH (n:Note) RETURN n.mtime").rows == before
        os.utime(folder / "A.md", ns=(0, 86_400_000_000_000))
        vault.refresh()
        assert str(vault.query("MATCH (n:Note) RETURN n.mtime").rows[0][0]).startswith("1970-01-02")


def test_the_same_notes_give_the_same_cache_bytes(write, tmp_path: Path):
    folder = write({"A.md": "[[B]] #t ![[i.png]]", "B.md": "---\nx: [1, two]\n---", "i.png": b"\x89PNG"})
    clone = tmp_path / "clone"
    shutil.copytree(folder, clone, copy_function=shutil.copyfile)
    for root in (folder, clone):
        vaultgraph.open(root).close()
    assert (folder / ".kglite/graph.kgl").read_bytes() == (clone / ".kglite/graph.kgl").read_bytes()


def test_a_broken_configuration_keeps_the_old_graph_and_says_so(write):
    folder = write({"A.md": "a"})
    with vaultgraph.open(folder, cache=None) as vault:
        write({".kglite/vault.yaml": "kglite_vault: 1\nno_such_key: 1\n", "B.md": "b"})
        with pytest.raises(ProfileError, match="no_such_key"):
            vault.refresh()
        snapshot = vault.current()
        assert titles(vault) == ["A"]
        assert snapshot.stale is not None
        assert "no_such_key" in snapshot.stale
        assert snapshot.stale.startswith("since ")
        write({".kglite/vault.yaml": "kglite_vault: 1\n"})
        vault.refresh()
        assert vault.current().stale is None
        assert titles(vault) == ["A", "B"]


def test_a_vault_with_a_broken_configuration_can_be_opened_without_building(write):
    folder = write({"A.md": "a", ".kglite/vault.yaml": "kglite_vault: 99\n"})
    with pytest.raises(ProfileError):
        vaultgraph.open(folder, cache=None)
    with vaultgraph.open(folder, cache=None, build=False) as vault:
        with pytest.raises(ProfileError, match="kglite_vault"):
            vault.query("RETURN 1")
        write({".kglite/vault.yaml": "kglite_vault: 1\n"})
        assert titles(vault) == ["A"]


def test_a_deleted_vault_keeps_answering_and_says_so(write):
    folder = write({"A.md": "a"})
    with vaultgraph.open(folder, cache=None) as vault:
        shutil.rmtree(folder)
        with pytest.raises(vaultgraph.VaultgraphError):
            vault.refresh()
        assert titles(vault) == ["A"]
        assert vault.current().stale is not None
        assert not folder.exists()


def test_a_vault_that_comes_back_is_read_again(write):
    folder = write({"A.md": "a"})
    with vaultgraph.open(folder, cache=None) as vault:
        shutil.rmtree(folder)
        with pytest.raises(vaultgraph.VaultgraphError):
            vault.refresh()
        folder.mkdir()
        write({"B.md": "b"})
        vault.refresh()
        assert titles(vault) == ["B"]


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_a_path_that_is_no_folder_is_refused_with_advice(tmp_path: Path, kind: str):
    path = tmp_path / "thing"
    if kind == "file":
        path.write_text("x")
    with pytest.raises(SettingsError, match="folder"):
        vaultgraph.open(path)


def test_an_empty_vault_is_an_empty_graph(folder: Path):
    with vaultgraph.open(folder, cache=None) as vault:
        assert vault.query("MATCH (n) RETURN count(*) AS n").rows == [(0,)]
        assert vault.report.notes == 0


def test_a_foreign_cache_is_never_overwritten(write):
    folder = write({"A.md": "a", ".kglite/graph.kgl": b"somebody else's graph"})
    with vaultgraph.open(folder) as vault:
        assert titles(vault) == ["A"]
        assert vault.save()
    assert (folder / ".kglite/graph.kgl").read_bytes() == b"somebody else's graph"


def test_a_truncated_cache_is_rebuilt(write):
    folder = write({"A.md": "a"})
    vaultgraph.open(folder).close()
    cache = folder / ".kglite/graph.kgl"
    whole = cache.read_bytes()
    cache.write_bytes(whole[: len(whole) // 2])
    with vaultgraph.open(folder) as vault:
        assert vault.report.origin == "built"
        assert vault.report.cache is not None
    assert cache.read_bytes() == whole


def test_a_folder_in_place_of_the_cache_is_left_alone(write):
    folder = write({"A.md": "a", ".kglite/graph.kgl/keep.txt": "x"})
    with vaultgraph.open(folder) as vault:
        assert titles(vault) == ["A"]
        assert "graph.kgl" in (vault.save() or "")
    assert (folder / ".kglite/graph.kgl/keep.txt").read_text() == "x"


def test_a_cache_that_cannot_be_written_is_one_remark(write, tmp_path: Path):
    blocker = tmp_path / "blocker"
    blocker.write_text("a file, so that no folder can be made below it")
    with vaultgraph.open(write({"A.md": "a"}), cache=blocker / "x" / "graph.kgl") as vault:
        assert titles(vault) == ["A"]
        remark = vault.save()
        assert remark is not None
        assert "not written" in remark
        assert vault.is_cache_refused


def test_a_cache_that_could_not_be_written_is_tried_again_with_the_next_save(write, tmp_path: Path):
    blocker = tmp_path / "blocker"
    blocker.write_text("a file, so that no folder can be made below it")
    cache = blocker / "graph.kgl"
    with vaultgraph.open(write({"A.md": "a"}), cache=cache) as vault:
        assert "not written" in (vault.save() or "")
        blocker.unlink()
        assert (vault.save() or "").startswith("written to")
        assert not vault.is_cache_refused
        written = cache.stat().st_mtime_ns
        vault.save()
        assert cache.stat().st_mtime_ns == written


def test_a_cache_that_could_not_be_written_is_written_when_the_vault_is_closed(write, tmp_path: Path):
    blocker = tmp_path / "blocker"
    blocker.write_text("a file, so that no folder can be made below it")
    folder, cache = write({"A.md": "a"}), blocker / "graph.kgl"
    with vaultgraph.open(folder, cache=cache) as vault:
        vault.save()
        blocker.unlink()
    with vaultgraph.open(folder, cache=cache) as vault:
        assert vault.report.origin == "cache"


def test_an_open_that_somebody_interrupts_leaves_no_thread_behind(write):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = {*threading.enumerate()}
    with pytest.raises(KeyboardInterrupt):
        vaultgraph.open(write({"A.md": "a"}), cache=None, watch="auto", progress=interrupt)
    assert {*threading.enumerate()} <= before


def test_canvases_are_read_as_soon_as_the_configuration_says_so(write):
    card = {"id": "1", "type": "file", "file": "A.md"}
    folder = write({"A.md": "a", "Plan.canvas": json.dumps({"nodes": [card]}), ".kglite/vaultgraph.yaml": ""})
    shown = "MATCH (:Canvas)-[:LINKS_TO]->(n) RETURN n.path"
    with vaultgraph.open(folder, cache=None) as vault:
        for setting, rows in (("canvas: false", []), ("canvas: true", [("A.md",)]), ("canvas: false", [])):
            write({".kglite/vaultgraph.yaml": setting})
            vault.refresh()
            assert vault.query(shown).rows == rows


def test_a_closed_vault_answers_nothing_and_holds_nothing(write):
    vault = vaultgraph.open(write({"a.md": "# a"}))
    held = weakref.ref(vault.latest.records.listing)
    vault.close()
    vault.close()
    assert held() is None
    for ask in (lambda: vault.query(TITLES), lambda: vault.report, vault.refresh, vault.rebuild, vault.cache_facts):
        with pytest.raises(BuildError, match="closed: open it again"):
            ask()


def test_a_closed_vault_lets_go_of_its_cache_file(write):
    folder = write({"a.md": "# a\n[[b]] #c"})
    vaultgraph.open(folder).close()
    vault = vaultgraph.open(folder)
    assert vault.report.origin == "cache"
    snapshot = vault.latest
    held = [
        weakref.ref(snapshot.records.headings),
        weakref.ref(snapshot.graph.node_columns["title"].segments[0].series),
    ]
    del snapshot
    gc.disable()  # at once, and not when cycles are looked for
    try:
        vault.close()
        assert [one() for one in held] == [None, None]
    finally:
        gc.enable()


def test_a_closed_vault_holds_no_graph_of_a_day(dated):
    vault = vaultgraph.open(dated, cache=None)
    held = weakref.ref(vault.run(TITLES, {}, valid_at="2020-01-01")[1].graph.node_columns["title"].segments[0].series)
    vault.close()
    assert held() is None


def test_an_answer_as_of_a_day_is_of_the_last_look_at_the_folder(dated):
    with vaultgraph.open(dated, cache=None) as vault:
        looks = [vault.run(TITLES, {}, valid_at="2020-01-01")[1].looked_at]
        vault.refresh()
        looks.append(vault.run(TITLES, {}, valid_at="2020-01-01")[1].looked_at)
        assert looks[0] < looks[1] == vault.latest.looked_at


def test_a_vault_closed_while_its_notes_are_read_answers_nothing_and_lets_go_when_they_are(
    write, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("vaultgraph.vault.vault.PATIENCE_S", 0.01)
    begun, ends, is_slow = threading.Event(), threading.Event(), False

    def read(phase: str, *_: int) -> None:
        if is_slow and phase == "read":
            begun.set()
            ends.wait()

    vault = vaultgraph.open(write({"a.md": "# a"}), progress=read)
    write({"b.md": "# b"})
    is_slow = True
    with ThreadPoolExecutor() as pool:
        found = pool.submit(vault.refresh)
        begun.wait()
        held = weakref.ref(vault.latest.records.listing)
        vault.close()
        with pytest.raises(BuildError, match="closed: open it again"):
            vault.query(TITLES)
        ends.set()
        assert found.result().notes == 2  # asked for before
    with pytest.raises(BuildError, match="closed: open it again"):
        vault.refresh()
    for thread in threading.enumerate():
        if thread.name == "closing":
            thread.join()
    assert (vault.latest, held(), vault.root.handle) == (None, None, -1)


def test_a_faulty_note_is_a_problem_and_never_lost(write):
    folder = write(
        {
            "latin.md": b"caf\xe9",
            "bom.md": b"\xef\xbb\xbf---\ntitle: Bom\n---\n",
            "broken.md": "---\nx: [1\n---\n[[bom]]",
            "n" * 240 + ".md": "long name",
        }
    )
    with vaultgraph.open(folder, cache=None) as vault:
        assert titles(vault) == ["Bom", "broken", "latin", "n" * 240]
        codes = {row["path"]: row["code"] for row in vault.report.problems.to_dicts()}
        assert codes["latin.md"] == "not-utf8"
        assert codes["broken.md"] == "bad-frontmatter"
        links = "MATCH (:Note {stem: 'broken'})-[:LINKS_TO]->(b) RETURN b.path"
        assert vault.query(links).rows == [("bom.md",)]


def test_two_threads_refreshing_agree(write):
    folder = write({f"n{i}.md": f"[[n{i + 1}]]" for i in range(50)})
    with vaultgraph.open(folder, cache=None) as vault, ThreadPoolExecutor(4) as pool:
        for round_ in range(5):
            write({f"extra{round_}.md": "x"})
            list(pool.map(lambda _: vault.refresh(), range(4)))
            counts = list(pool.map(lambda _: vault.query("MATCH (n:Note) RETURN count(*)").rows, range(4)))
            assert counts == [[(51 + round_,)]] * 4
