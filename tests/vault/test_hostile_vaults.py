"""Vaults moved, replaced or built to lead a reader astray: nothing outside is written, nothing inside is lost."""

import os
import shutil
from pathlib import Path

import pytest

import vaultgraph
from vaultgraph.errors import ProfileError

NOTES = "MATCH (n:Note) RETURN count(*)"


def count(vault) -> int:
    return vault.query(NOTES).rows[0][0]


def problems(vault) -> list[tuple[str, str]]:
    return vault.report.problems.select("path", "code").rows()


@pytest.mark.parametrize("cache", ["default", "inside"])
def test_closing_never_makes_a_deleted_vault_again(write, cache: str):
    folder = write({"a.md": "x"})
    vault = vaultgraph.open(folder, cache=cache if cache == "default" else folder / "deep" / "x.kgl")
    shutil.rmtree(folder)
    vault.close()
    assert not folder.exists()


def test_a_vault_that_was_moved_away_is_not_taken_for_an_empty_one(write):
    folder = write({"a.md": "x"})
    moved = folder.with_name("moved")
    with vaultgraph.open(folder) as vault:
        vault.save()
        (folder / "b.md").write_text("y")
        vault.refresh()
        folder.rename(moved)
        assert "gone" in vault.save()
        assert count(vault) == 2
        moved.rename(folder)
        (folder / "c.md").write_text("z")
        assert vault.refresh().notes == 3
        assert "written" in vault.save()


def test_a_cache_folder_that_leads_out_of_the_vault_is_neither_read_nor_written(write, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "vault.yaml").write_text("kglite_vault: 1\ndefault_label: Outside\n")
    folder = write({"a.md": "x"})
    (folder / ".kglite").symlink_to(outside)
    with vaultgraph.open(folder) as vault:
        assert vault.query("MATCH (n:Note) RETURN labels(n)").rows == [(["Note"],)]
        assert "symlink" in vault.save()
        assert (".kglite/vault.yaml", "symlink-outside") in problems(vault)
        generation = vault.current().generation
        vault.refresh()
        assert vault.current().generation == generation
    assert [file.name for file in outside.iterdir()] == ["vault.yaml"]


@pytest.mark.parametrize("kind", ["folder", "pipe", "huge"])
def test_a_configuration_that_is_there_but_cannot_be_read_is_refused_not_ignored(write, kind: str):
    folder = write({"a.md": "x", ".kglite/skills/x.md": ""})
    file = folder / ".kglite" / "vault.yaml"
    match kind:
        case "folder":
            file.mkdir()
        case "pipe":
            os.mkfifo(file)
        case _:
            file.write_bytes(b"#" * 1_000_001)
    with pytest.raises(ProfileError, match=r"vault\.yaml"):
        vaultgraph.open(folder)


def test_a_note_too_large_to_hold_is_a_note_without_content_and_harms_no_other(write):
    folder = write({"a.md": "[[huge]]", "huge.md": "x"})
    os.truncate(folder / "huge.md", 1 << 40)
    with vaultgraph.open(folder, cache=None) as vault:
        assert vault.query("MATCH (:Note {path: 'a.md'})-[:LINKS_TO]->(n:Note) RETURN n.path").rows == [("huge.md",)]
        assert problems(vault) == [("huge.md", "unreadable")]
        generation = vault.current().generation
        vault.refresh()
        assert vault.current().generation == generation
        (folder / "huge.md").write_text("[[a]]")
        vault.refresh()
        assert problems(vault) == []


def test_a_file_that_is_in_the_cloud_only_is_one_problem(write):
    folder = write({"a.md": "x", ".b.md.icloud": "stub"})
    with vaultgraph.open(folder, cache=None) as vault:
        assert count(vault) == 2
        assert problems(vault) == [("b.md", "offline")]


def test_names_that_look_like_addresses_are_read(write):
    folder = write(
        {"C:.md": "[[~t]]", "~t.md": "", "file:x.md": "", "c:/d.md": "", "back\\slash.md": "", "a\\..\\b.md": ""}
    )
    with vaultgraph.open(folder, cache=None) as vault:
        assert count(vault) == 6
        assert problems(vault) == []


def test_counts_of_a_report_say_nothing_twice(write):
    with vaultgraph.open(write({"a.md": "[[b]]", "b.md": "---\nkg_skip: true\n---\n"}), cache=None) as vault:
        assert (vault.report.files, vault.report.notes) == (2, 1)
        assert {"files", "notes"}.isdisjoint(vault.report.counts)


def test_cells_of_every_kind_in_one_property_are_read_from_the_cache(write):
    cells = (
        "1",
        "x",
        "",
        "[1, [a]]",
        "{a: {b: [1]}}",
        "9999-12-31",
        "0001-01-01",
        "9999-12-31T23:59:59Z",
        "true",
        "2.5",
    )
    folder = write({f"{at}.md": f"---\nk: {cell}\nl: [{cell}, y]\n---\n" for at, cell in enumerate(cells)})
    query = "MATCH (n:Note) RETURN n.k, n.l ORDER BY n.path"
    with vaultgraph.open(folder) as vault:
        rows = vault.query(query).rows
    with vaultgraph.open(folder) as vault:
        assert (vault.report.origin, vault.report.parsed) == ("cache", 0)
        assert vault.query(query).rows == rows
