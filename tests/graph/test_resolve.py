"""How a target finds its file: exact path, own folder, shortest path; then alias, title and slug."""

import pytest

from vaultgraph.profile.settings import Profile


@pytest.fixture
def target(build):
    """Where the first link of ``source`` leads, with ``ambiguous`` and ``via``."""

    def run(vault, source, link, **options):
        vault = {**vault, source: {**vault.get(source, {}), "links": [link]}}
        found = build(vault, **options)
        rows = [row for row in found.relationships(None, "ambiguous", "via") if row[0] == source and row[1] in KINDS]
        (row,) = rows
        return row[2:]

    return run


KINDS = ("LINKS_TO", "EMBEDS", "HAS_IMAGE", "HAS_ATTACHMENT", "X")


@pytest.mark.parametrize(
    ("source", "link", "expected"),
    [
        ("q/s.md", "[[N]]", ("N.md", None)),  # the exact path goes first, from anywhere
        ("b/s.md", "[[b/N]]", ("b/N.md", None)),
        ("b/s.md", "[[N]]", ("N.md", None)),
        ("b/s.md", "[s](N.md)", ("b/N.md", None)),  # a Markdown link asks its own folder first
        ("b/s.md", "[s](N)", ("b/N.md", None)),
        ("q/s.md", "[s](N.md)", ("N.md", None)),
        ("b/s.md", "x: [[a/N]]", ("a/N.md", None)),
    ],
)
def test_an_exact_vault_path_and_for_markdown_the_own_folder_go_first(target, source, link, expected):
    vault = {"N.md": {}, "a/N.md": {}, "b/N.md": {}}
    assert target(vault, source, link)[:2] == expected


@pytest.mark.parametrize(
    ("source", "link", "expected"),
    [
        ("b/s.md", "[[N]]", ("b/N.md", True, None)),
        ("q/s.md", "[[N]]", ("a/N.md", True, None)),  # equally long: the first by path
        ("long/s.md", "[[N]]", ("long/N.md", True, None)),
        ("q/s.md", "[[b/N]]", ("b/N.md", None, None)),
        ("q/s.md", "[[c/N]]", ("x/c/N.md", None, None)),  # a name with / matches the end of a path
        ("x/s.md", "[[c/N]]", ("x/c/N.md", None, None)),
        ("b/s.md", "[s](N.md)", ("b/N.md", None, None)),
        ("q/s.md", "[s](N.md)", ("a/N.md", True, None)),
        ("q/s.md", "x: [[N]]", ("a/N.md", True, None)),
    ],
)
def test_a_shared_name_means_the_own_folder_then_the_shortest_path_and_is_ambiguous(target, source, link, expected):
    vault = {"long/N.md": {}, "b/N.md": {}, "a/N.md": {}, "x/c/N.md": {}}
    assert target(vault, source, link) == expected


def test_a_part_of_a_name_is_no_match(target):
    assert target({"a/xN.md": {}, "Nx.md": {}}, "s.md", "[[N]]")[0] == "Concept:N"


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("[[./N]]", "sub/N.md"),
        ("[[../other/N]]", "other/N.md"),
        ("[s](./N.md)", "sub/N.md"),
        ("[s](../other/N)", "other/N.md"),
        ("[[/other/N]]", "other/N.md"),
        ("[s](/other/N.md)", "other/N.md"),
        ("[s](../sub/./../other/N.md)", "other/N.md"),
        ("[[other/../sub/N]]", "sub/N.md"),
        ("[[./M]]", "Concept:sub/M"),  # what is relative is not looked for elsewhere
        ("[[../M]]", "Concept:M"),
        ("[[/N]]", "Concept:N"),
    ],
)
def test_relative_and_rooted_targets_are_exact(target, link, expected):
    vault = {"sub/N.md": {}, "other/N.md": {}, "other/M.md": {}}
    assert target(vault, "sub/s.md", link)[:2] == (expected, None)


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("Three Laws.md", "[[three LAWS]]"),
        ("Café.md", "[[CAFÉ]]"),
        ("Cafe\u0301.md", "[[caf\u00e9]]"),
        ("Caf\u00e9.md", "[s](CAFE\u0301.md)"),
        ("Straße.md", "[[STRASSE]]"),
        ("İstanbul.md", "[[i̇stanbul]]"),
        ("ΣΊΣΥΦΟΣ.md", "[[σίσυφος]]"),
        ("日本語/ノート.md", "[[日本語/ノート]]"),
        ("Sub/Note.MD", "[[note]]"),
        ("Sub/Note.MD", "[s](note.md)"),
        ("img/A.png", "![[a.PNG]]"),
    ],
)
def test_names_are_compared_by_full_case_folding_and_composition(target, path, link):
    vault = {path: 5 if path.endswith("png") else {}}
    assert target(vault, "s.md", link)[0] == path


def test_a_note_is_found_with_and_without_its_extension_and_with_dots_in_its_name(target):
    vault = {"v1.2.md": {}, "x.md.md": {}}
    assert target(vault, "s.md", "[[v1.2]]")[0] == "v1.2.md"
    assert target(vault, "s.md", "[[v1.2.md]]")[0] == "v1.2.md"
    assert target(vault, "s.md", "[[x.md]]")[0] == "x.md.md"
    assert target({**vault, "x.md": {}}, "s.md", "[[x.md]]")[0] == "x.md"


def test_other_files_need_their_extension(target):
    vault = {"a/pic.png": 3, "a/pic.md": {}}
    assert target(vault, "s.md", "[[pic]]")[0] == "a/pic.md"
    assert target(vault, "s.md", "[[pic.png]]")[0] == "a/pic.png"
    assert target({"a/pic.png": 3}, "s.md", "[[pic]]")[0] == "Concept:pic"


def test_a_file_goes_before_a_note_that_only_looks_like_it(target):
    vault = {"deep/er/a.png": 3, "a.png.md": {}}
    assert target(vault, "s.md", "[[a.png]]")[0] == "deep/er/a.png"
    assert target({"a.png.md": {}}, "s.md", "[[a.png]]")[0] == "a.png.md"


def test_a_note_goes_before_a_file_without_extension(target):
    assert target({"LICENSE": 3, "doc/LICENSE.md": {}}, "s.md", "[[LICENSE]]")[0] == "doc/LICENSE.md"
    assert target({"LICENSE": 3}, "s.md", "[x](LICENSE)")[0] == "LICENSE"


@pytest.mark.parametrize(
    ("link", "expected", "via"),
    [
        ("[[al]]", "n1.md", "alias"),
        ("[[7]]", "n1.md", "alias"),
        ("[[some title]]", "n2.md", "title"),
        ("[s](Some%20Title)", "Concept:Some%20Title", None),  # decoding is the reader's
        ("[s](some title.md)", "n2.md", "title"),
        ("[[my note_three]]", "My_Note-Three.md", "slug"),
        ("[[some-title]]", "n2.md", "slug"),
        ("[[n1]]", "n1.md", None),
        ("x: [[AL]]", "n1.md", "alias"),
        ("[[./al]]", "Concept:al", None),
    ],
)
def test_what_no_path_has_is_looked_up_as_alias_title_and_slug(target, link, expected, via):
    vault = {"n1.md": {"props": {"aliases": ["Al", 7]}}, "n2.md": {"title": "Some Title"}, "My_Note-Three.md": {}}
    assert target(vault, "s.md", link) == (expected, None, via)


def test_an_alias_goes_before_a_title_and_a_path_before_both(target):
    vault = {"a.md": {"props": {"aliases": "T"}}, "b.md": {"title": "T"}}
    assert target(vault, "s.md", "[[t]]") == ("a.md", None, "alias")
    assert target({**vault, "deep/t.md": {}}, "s.md", "[[t]]") == ("deep/t.md", None, None)


def test_a_name_of_two_notes_is_none_and_the_next_kind_of_name_is_asked(target):
    vault = {"a.md": {"props": {"aliases": ["T"]}}, "b.md": {"props": {"aliases": ["t"]}}}
    assert target(vault, "s.md", "[[T]]")[0] == "Concept:T"
    assert target({**vault, "c.md": {"title": "T"}}, "s.md", "[[T]]") == ("c.md", None, "title")


def test_the_same_alias_twice_in_one_note_is_one_name(target):
    assert target({"a.md": {"props": {"aliases": ["T", "t"]}}}, "s.md", "[[T]]")[0] == "a.md"


def test_obsidian_resolution_knows_no_aliases(target):
    vault = {"a.md": {"props": {"aliases": ["T"]}, "title": "Long"}}
    profile = Profile(resolution="obsidian")
    assert target(vault, "s.md", "[[T]]", profile=profile)[0] == "Concept:T"
    assert target(vault, "s.md", "[[Long]]", profile=profile)[0] == "Concept:Long"


def test_one_link_by_path_and_one_by_alias_to_a_note_are_one_relationship_that_obsidian_has(build):
    found = build({"a.md": {"links": ["[[Al]]", "[[N]]"]}, "N.md": {"props": {"aliases": ["Al"]}}})
    assert found.relationships("LINKS_TO", "count", "via") == [("a.md", "N.md", 2, None)]
    assert found.built.counts["alias_links"] == 1


def test_a_symlink_is_another_name_of_its_target(target):
    vault = {"real/deep/N.md": {}, "real/p.png": 3}
    aliases = {"short": "real", "z/M.md": "real/deep/N.md"}
    assert target(vault, "s.md", "[[short/deep/N]]", aliases=aliases) == ("real/deep/N.md", None, None)
    assert target(vault, "s.md", "[[M]]", aliases=aliases) == ("real/deep/N.md", None, None)
    assert target(vault, "s.md", "[[N]]", aliases=aliases) == ("real/deep/N.md", None, None)
    assert target(vault, "s.md", "![[short/p.png]]", aliases=aliases)[0] == "real/p.png"


def test_a_symlink_to_the_vault_itself_leads_to_its_files(target):
    assert target({"a/N.md": {}}, "s.md", "[[loop/a/N]]", aliases={"loop": ""})[0] == "a/N.md"


def test_ambiguous_links_are_counted_by_kind(build):
    vault = {"a/N.md": {}, "b/N.md": {}, "a/p.png": 1, "b/p.png": 1}
    found = build({**vault, "s.md": {"links": ["[[N]]", "[[N|x]]", "![[p.png]]", "[[a/N]]"]}})
    assert found.built.counts["ambiguous_links"] == 2
    assert found.built.counts["ambiguous_attachments"] == 1
