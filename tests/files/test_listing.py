"""Listing folders: what can be served, in order, counted."""

import pytest

from vaultgraph.errors import FileError, MissingFileError, ParameterError, PathEscapeError
from vaultgraph.files.listing import list_tree


def paths(listing) -> list[str]:
    return [entry.path + "/" * entry.is_folder for entry in listing.entries]


@pytest.fixture
def root(make_vault):
    return make_vault({
        "Home.md": "12345", "b.txt": "", "Geology/Faults.md": "x", "Geology/Deep/Core.md": "x", "alpha/z.md": "x",
        ".kglite/vault.yaml": "x", ".kglite/.tmp": "x", ".obsidian/app.json": "{}", ".hidden.md": "x",
    })  # fmt: skip


def test_a_folder_is_listed_by_name_with_folders_marked(root):
    listing = list_tree(root)
    assert paths(listing) == [".kglite/", "alpha/", "b.txt", "Geology/", "Home.md"]
    assert (listing.path, listing.total, listing.is_cut) == ("", 5, False)
    assert [(entry.size_bytes, entry.depth) for entry in listing.entries][-1] == (5, 1)


def test_depth_shows_what_is_in_the_folders(root):
    assert paths(list_tree(root, "Geology", depth=2)) == ["Geology/Deep/", "Geology/Deep/Core.md", "Geology/Faults.md"]
    assert paths(list_tree(root, ".kglite")) == [".kglite/vault.yaml"]
    assert paths(list_tree(root, "./", depth=10**9, dirs_only=True)) == [
        ".kglite/",
        "alpha/",
        "Geology/",
        "Geology/Deep/",
    ]


def test_globs_match_from_the_root_or_from_the_folder(root):
    assert paths(list_tree(root, depth=9, glob="*.md")) == [
        "alpha/z.md",
        "Geology/Deep/Core.md",
        "Geology/Faults.md",
        "Home.md",
    ]
    assert paths(list_tree(root, "Geology", depth=9, glob="Deep/*")) == ["Geology/Deep/Core.md"]
    assert paths(list_tree(root, "Geology", depth=9, glob="Geology/*.md")) == ["Geology/Faults.md"]


def test_a_cut_listing_counts_the_rest(root):
    listing = list_tree(root, depth=9, most=2)
    assert (len(listing.entries), listing.total, listing.is_cut) == (2, 10, True)
    assert list_tree(root, most=0).is_cut


def test_links_are_shown_where_they_lead_inside_and_never_entered(root, folder, tmp_path):
    (tmp_path / "secret").mkdir()
    (folder / "Alias").symlink_to("Geology")
    (folder / "Note.md").symlink_to("Home.md")
    (folder / "loop").symlink_to(".")
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "gone").symlink_to("nothing")
    listing = list_tree(root, depth=3)
    assert "Alias/" in paths(listing)
    assert "loop/" in paths(listing)
    assert "Note.md" in paths(listing)
    assert not [path for path in paths(listing) if path.startswith(("out", "gone", "Alias/F", "loop/H"))]
    assert paths(list_tree(root, "Alias")) == ["Geology/Deep/", "Geology/Faults.md"]


def test_a_missing_folder_names_the_nearest_and_a_file_its_tool(root):
    with pytest.raises(MissingFileError) as error:
        list_tree(root, "Geologie")
    assert error.value.data["nearest"] == ["Geology"]
    with pytest.raises(FileError, match="read_source"):
        list_tree(root, "Home.md")
    for path in ("..", ".obsidian", "/etc"):
        with pytest.raises(PathEscapeError):
            list_tree(root, path)
    for wrong in ({"depth": 0}, {"most": -1}, {"glob": ""}):
        with pytest.raises(ParameterError):
            list_tree(root, **wrong)
