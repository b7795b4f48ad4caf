"""A vault exported and built again is the same vault, but for what the report says."""

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from vaultgraph.export.compare import differences
from vaultgraph.export.owned import check_out, write_plan
from vaultgraph.export.plan import Plan
from vaultgraph.export.vault import Source, plan_vault
from vaultgraph.files.root import VaultRoot
from vaultgraph.graph.store import load, save
from vaultgraph.note.records import ValueKind
from vaultgraph.vault.refresh import refresh

HANDBOOK = Path(__file__).resolve().parents[2] / "fixtures" / "handbook"


def export(folder, out, **more):
    with VaultRoot.open(folder) as root:
        state = refresh(root, None, (), None).state
        plan = plan_vault(Source(state.records, state.built.graph, state.configuration, root))
        write_plan(plan, check_out(out, root.path), **more)
    return plan


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    out = tmp_path_factory.mktemp("export") / "handbook"
    return out, export(HANDBOOK, out)


def test_the_handbook_is_the_same_graph_after_an_export(exported, compared):
    out, plan = exported
    found = compared(HANDBOOK, out)
    assert found.lost_nodes == found.added_nodes == found.changed_nodes == []
    assert found.lost_relationships == found.added_relationships == found.changed_relationships == []
    # JSON frontmatter on two lines, which is written a key a line
    assert {kind: entry["count"] for kind, entry in plan.report().items()} == {"line-moved": 1}
    assert found.lines < 20


def test_an_export_of_the_export_writes_the_same_bytes(exported, snapshot, tmp_path):
    out, _ = exported
    export(out, tmp_path / "again")
    first, second = snapshot(out), snapshot(tmp_path / "again")
    manifest = json.loads(first.pop(".kglite/export.json"))
    assert json.loads(second.pop(".kglite/export.json"))["files"] == manifest["files"]
    assert first == second


def test_bodies_are_kept_byte_for_byte(exported):
    out, _ = exported
    for written in out.rglob("*.md"):
        path = HANDBOOK / written.relative_to(out)
        body = re.sub(
            rb"\A(\xef\xbb\xbf)?---[ \t]*\r?\n.*?\n---[ \t]*\r?(\n|\Z)", b"", path.read_bytes(), flags=re.DOTALL
        )
        assert written.read_bytes().endswith(body), path


def test_pictures_configuration_skills_and_recipes_go_along(exported):
    out, _ = exported
    for path in ("media/skerry map.png", ".kglite/vault.yaml", ".kglite/skills/handbook_tour.md", "Season plan.canvas"):
        assert (out / path).read_bytes() == (HANDBOOK / path).read_bytes()
    assert not (out / ".kglite/graph.kgl").exists()


def test_a_graph_file_gives_the_notes_and_says_what_is_not_at_hand(tmp_path, read):
    with VaultRoot.open(HANDBOOK) as root:
        state = refresh(root, None, (), None).state
    file = tmp_path / "graph.kgl"
    save(
        file, records=state.records, graph=state.built.graph, problems=state.built.problems,
        counts=state.built.counts, inputs_hash=b"", configuration=state.configuration, version="1",
    )  # fmt: skip
    stored = load(file)
    plan = plan_vault(Source(stored.records, stored.graph, stored.configuration))
    report = plan.report()
    assert report["file-not-copied"]["count"] > 3
    assert report["frontmatter-lost"]["examples"] == ["Protocols/Broken header.md: the original is not at hand"]
    write_plan(plan, check_out(tmp_path / "out", None))
    built = read(tmp_path / "out").graph
    notes = {path for path in stored.records.notes["path"] if path.endswith(".md")}
    assert {p for p in plan.files if p.endswith(".md")} == notes
    assert "LINKS_TO" in built.relationships
    with VaultRoot.open(HANDBOOK) as root:
        whole = plan_vault(Source(stored.records, stored.graph, stored.configuration, root))
    assert set(whole.report()) == {"line-moved"}


def test_a_note_that_is_not_text_is_copied_and_one_that_is_skipped_too(write, tmp_path, compared):
    folder = write(
        {
            "a.md": b"---\nkg_skip: true\nx: 1\n---\nhidden [[b]]\n",
            "b.md": b"\xff\xfe latin",
            "c.md": b"---\na: [1\n---\nbroken [[a]]\n",
            "d.md": b"\xef\xbb\xbf---\nk: 1\n---\nbom",
            "plan.canvas": b'{"nodes": []}',
        }
    )
    plan = export(folder, tmp_path / "out")
    assert plan.report() == {}
    for name in ("a.md", "b.md", "c.md", "plan.canvas"):
        assert (tmp_path / "out" / name).read_bytes() == (folder / name).read_bytes()
    assert (tmp_path / "out/d.md").read_bytes() == b"---\nk: 1\n---\nbom"
    assert compared(folder, tmp_path / "out").changed_nodes == []


def test_a_note_that_changed_since_it_was_read_is_not_copied(write, tmp_path):
    folder = write({"b.md": b"\xff\xfe"})
    with VaultRoot.open(folder) as root:
        state = refresh(root, None, (), None).state
        (folder / "b.md").write_bytes(b"\xff\xff other")
        plan = plan_vault(Source(state.records, state.built.graph, state.configuration, root))
    assert plan.report()["note-lost"] == {"count": 1, "examples": ["b.md: it changed since it was read"]}
    assert "b.md" not in plan.files


def test_files_of_one_name_go_along_because_links_depend_on_them(write, tmp_path, compared):
    folder = write({"a.md": "![[p.png]]\n", "x/p.png": b"1", "yy/p.png": b"2", "unused.zip": b"3"})
    export(folder, tmp_path / "out")
    found = compared(folder, tmp_path / "out")
    assert found.changed_relationships == found.lost_relationships == []
    assert (tmp_path / "out/yy/p.png").read_bytes() == b"2"
    assert not (tmp_path / "out/unused.zip").exists()


def test_windows_line_ends_stay(write, tmp_path):
    folder = write({"a.md": b"---\r\nk: 1\r\n---\r\nline\r\n"})
    export(folder, tmp_path / "out")
    assert (tmp_path / "out/a.md").read_bytes() == (folder / "a.md").read_bytes()


def test_the_manifest_lists_every_file_with_its_hash(exported):
    out, plan = exported
    manifest = json.loads((out / ".kglite/export.json").read_bytes())
    assert set(manifest["files"]) == set(plan.files)
    assert manifest["files"]["Glossary.md"] == hashlib.sha256((out / "Glossary.md").read_bytes()).hexdigest()
    assert manifest["version"] == 1


def test_the_source_is_not_touched(write, tmp_path, snapshot):
    folder = write({"a.md": "---\nb:\n---\n[[c]]\n", "p.png": b"x"})
    before = snapshot(folder)
    export(folder, tmp_path / "out")
    assert snapshot(folder) == before


def test_comparing_sees_what_differs(write, tmp_path, read):
    folder = write({"a.md": "---\nk: 1\n---\n[[b]] #t\n", "b.md": ""})
    old = read(folder).graph
    assert differences(old, old).changed_nodes == []
    (folder / "a.md").write_text("---\nk: '1'\n---\n\n![[b]]\n")
    found = differences(old, read(folder).graph)
    assert found.lost_relationships == ["a.md  (Note) -[LINKS_TO]-> b.md  (Note)", "a.md  (Note) -[TAGGED]-> t  (Tag)"]
    assert found.added_relationships == ["a.md  (Note) -[EMBEDS]-> b.md  (Note)"]
    assert found.lost_nodes == ["t  (Tag)"]
    assert "a.md  (Note): k" in found.changed_nodes


def test_a_report_counts_all_and_shows_some():
    from vaultgraph.export.plan import Loss

    plan = Plan("vault", {}, [Loss("note-lost", str(number)) for number in range(50)])
    assert plan.report()["note-lost"]["count"] == 50
    assert len(plan.report()["note-lost"]["examples"]) == 20


def test_inline_fields_stay_in_the_body(write, tmp_path, compared):
    folder = write(
        {
            ".kglite/vaultgraph.yaml": "inline_fields: true\n",
            "a.md": "---\nrating: 4\ntitle: Foo\n---\nrating:: 5\ntitle:: Bar\nmood:: [[b]]\n",
            "b.md": "B\n",
        }
    )
    plan = export(folder, tmp_path / "out")
    assert plan.files["a.md"] == (folder / "a.md").read_bytes()
    assert plan.report() == {}
    assert compared(folder, tmp_path / "out").changed_nodes == []


def test_parts_of_notes_come_from_the_text_again(write, tmp_path, compared):
    folder = write(
        {
            ".kglite/vault.yaml": "kglite_vault: 1\nstructure:\n  sections: {}\n  chunks: {}\n  callouts: {}\n",
            "a.md": "# One\nText\n\n> [!note] Mark\n> this\n\n## Two\n[[a#One]]\n",
        }
    )
    plan = export(folder, tmp_path / "out")
    assert plan.report() == {}
    assert sorted(path for path in plan.files if path.endswith(".md")) == ["a.md"]
    assert compared(folder, tmp_path / "out").lost_nodes == []


def test_records_that_no_reader_made_do_no_harm(write, read, tmp_path):
    source = read(write({"a.md": "---\nk: 1\nl: [x]\n---\nbody\n", "b.md": "---\nm: {n: 1}\n---\n"}))
    records = source.records
    notes = records.notes.with_columns(body_line=pl.lit(None, pl.Int32), title=pl.lit(None, pl.String))
    for line in (None, -5, 2**31 - 1):
        properties = records.properties.with_columns(
            line=pl.lit(line, pl.Int32), text=pl.lit("x\n---\ny: [", pl.String)
        )
        for kind in ValueKind:
            odd = properties.with_columns(kind=pl.lit(kind.value, pl.UInt8), number=pl.lit(20_000, pl.Int64))
            plan = plan_vault(Source(replace(records, notes=notes, properties=odd), source.graph, {}))
            assert sorted(plan.files) == ["a.md", "b.md"]
            assert plan.files["a.md"].endswith(b"body\n")
