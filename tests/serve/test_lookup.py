"""How files and folders may be named: as on disk, as a link, as people write them; and what is said where none is."""

import pytest

FILES = {
    "Boats/Sula.md": "---\naliases: [The old one]\n---\n# Sula\n\nHull. ^hull\n\n## Refit\n\nNew mast.\n"
    "\n## Crew\n\nTwo.\n",
    "Boats/Rigging/Knots.md": "---\ntitle: Six knots\n---\nBowline.\n",
    "Station.md": "# The station\n",
    "Station/Kitchen.md": "Stove.\n",
    "Species/Species.md": "All of them.\n",
    "a/Index.md": "a",
    "b/Index.md": "b",
    "media/tide.png": b"\x89PNG\r\n\x1a\n",
    "media/deep/map.png": b"\x89PNG\r\n\x1a\n",
    "Odd/100 # cups.md": "A sign in the name.\n",
    "Odd/Intro.md": "---\ntitle: 'C: an introduction'\n---\n",
}


@pytest.fixture
def vault(local, write):
    return local(write(FILES))


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("boats/SULA.md", "Boats/Sula.md"),
        ("BOATS/sula", "Boats/Sula.md"),
        ("Sula.md", "Boats/Sula.md"),
        ("rigging/knots.md", "Boats/Rigging/Knots.md"),
        ("[[Sula]]", "Boats/Sula.md"),
        ("![[Boats/Sula|the boat]]", "Boats/Sula.md"),
        ("Boats\\Sula.md", "Boats/Sula.md"),
        ("the OLD one", "Boats/Sula.md"),
        ("[[six knots]]", "Boats/Rigging/Knots.md"),
        ("Station", "Station.md"),
        ("station/", "Station.md"),
        ("Species", "Species/Species.md"),
        ("Odd/100 # cups.md", "Odd/100 # cups.md"),
        ("C: an introduction", "Odd/Intro.md"),
    ],
)
def test_a_file_is_found_by_what_people_write_and_answers_its_real_path(vault, name, path):
    assert vault.text("read_source", file_path=name).startswith(f"{path}  (")


def test_a_heading_or_a_block_behind_the_name_is_the_part_to_read(vault):
    for name in ("Boats/Sula.md#Refit", "[[Sula#refit]]"):
        text = vault.text("read_source", file_path=name)
        assert "New mast." in text
        assert "Two." not in text
    assert "6: Hull. ^hull" in vault.text("read_source", file_path="[[Sula#^hull]]", grep_context=0)
    assert "It has: Sula, Refit, Crew" in vault.error("read_source", file_path="Sula#Zzz")


def test_what_is_not_unique_answers_its_candidates(vault):
    assert "  a/Index.md\n  b/Index.md" in vault.error("read_source", file_path="INDEX.md")


def test_a_near_miss_of_a_name_or_title_suggests_paths(vault):
    assert "Did you mean Boats/Sula.md?" in vault.error("read_source", file_path="Sulla")
    assert "Boats/Rigging/Knots.md" in vault.error("read_source", file_path="Six knot")


def test_a_web_address_is_refused_as_one(vault):
    message = vault.error("read_source", file_path="https://example.org/a.md")
    assert message == "not_found: https://example.org/a.md: is a web address; only files of the vault are read."
    assert "is a web address" in vault.error("list_source", path="https://example.org/a")


def test_an_empty_name_says_what_to_pass(vault):
    for name in ("", "  "):
        message = vault.error("read_source", file_path=name)
        assert message.startswith("parameter: `file_path` is empty. Pass a path")


@pytest.mark.parametrize("name", ["#", "[[]]", "[[#x]]", "![[", "^", "x#^", "*", "]]", "\\", "[[../x]]", "a\0b"])
def test_what_means_nothing_is_an_error_and_never_a_fault(vault, name):
    assert not vault.error("read_source", file_path=name).startswith("internal")
    assert not vault.call("list_source", path=name).text.startswith("internal")


def test_a_folder_is_found_in_any_letter_case_and_by_its_own_name(vault):
    assert vault.text("list_source", path="boats").startswith("Boats/  (2 entries)")
    assert vault.text("list_source", path="RIGGING").startswith("Boats/Rigging/  (1 entry)")
    assert "is a file, not a folder" in vault.error("list_source", path="boats/sula.md")


def test_a_glob_looks_at_all_levels_unless_told_otherwise(vault):
    for glob in ("**/*.png", "*.png"):
        assert "media/deep/map.png  8" in vault.text("list_source", glob=glob)
    assert "Boats/Sula.md" in vault.text("list_source", glob="Boats/*.md")
    assert "map.png" not in vault.text("list_source", glob="*.png", depth=2)


def test_a_glob_that_matches_nothing_says_where_it_looked_and_how_to_widen(vault):
    text = vault.text("list_source", path="Boats", glob="*.png", depth=1)
    assert text.startswith("nothing matches '*.png' among 2 entries below Boats/, 1 level deep.")
    assert "leave depth out" in text
    assert "leave path out" in text
    assert "among 20 entries in the vault. " in vault.text("list_source", glob="*.zip")


def test_a_search_in_no_file_says_so_and_names_the_glob_that_works(vault):
    assert 'try glob="Boats/**"' in vault.text("grep", pattern="x", glob="boats")
    assert "matches no file: *.md is by file name" in vault.text("grep", pattern="x", glob="*.zip")
    assert "matches 2 files, none of them text" in vault.text("grep", pattern="x", glob="*.png")
    assert vault.text("grep", pattern="zzz", glob="Boats/**") == "no match in 2 files"


def test_names_are_found_while_the_graph_is_being_built_or_refused(local, write):
    vault = local(write({**FILES, ".kglite/vault.yaml": "kglite_vault: 9\n"}))
    assert vault.text("read_source", file_path="sula").startswith("Boats/Sula.md  (")
    assert vault.error("read_source", file_path="Sulla").startswith("not_found: ")
