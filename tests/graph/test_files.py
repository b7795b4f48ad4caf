"""Images, attachments and canvases: which nodes they are and what leads to them."""

import pytest

from vaultgraph.profile.settings import Profile


def test_only_files_that_are_named_become_nodes(build):
    found = build({"a.md": {"links": ["![[p.png]]"]}, "img/p.png": 5, "img/q.png": 6, "z.zip": 1})
    assert found.names() == ["a.md", "img/p.png"]


@pytest.mark.parametrize(
    ("name", "labels", "mime"),
    [
        ("p.png", ("Image",), "image/png"),
        ("P.JPEG", ("Image",), "image/jpeg"),
        ("p.svg", ("Image",), "image/svg+xml"),
        ("p.avif", ("Image",), "image/avif"),
        ("f.pdf", ("Attachment", "Pdf"), "application/pdf"),
        ("f.mp3", ("Attachment", "Audio"), "audio/mpeg"),
        ("f.mp4", ("Attachment", "Video"), "video/mp4"),
        ("f.base", ("Attachment", "Base"), "application/yaml"),
        ("f.canvas", ("Attachment", "Canvas"), "application/json"),
        ("f.zip", ("Attachment",), "application/zip"),
        ("f.xyz", ("Attachment",), "application/octet-stream"),
    ],
)
def test_the_extension_decides_labels_and_mime(build, name, labels, mime):
    found = build({"a.md": {"links": [f"[x](sub/{name})"]}, f"sub/{name}": 5})
    assert found.labels(f"sub/{name}") == labels
    facts = found.properties(f"sub/{name}")
    assert {key: facts[key] for key in ("id", "path", "title", "mime", "size_bytes")} == {
        "id": f"sub/{name}",
        "path": f"sub/{name}",
        "title": name,
        "mime": mime,
        "size_bytes": 5,
    }


def test_image_relationships_say_how_and_where_and_count_in_order(build):
    links = ["![[p.png]]", "![alt](p.png)", "![[p.png]]", "under S", "![alt](p.png)", "[z](q.png)", "![[f.pdf#page=2]]"]
    found = build({"a.md": {"links": links}, "p.png": 1, "q.png": 1, "f.pdf": 1})
    assert found.relationships("HAS_IMAGE", "alt", "section", "ordinal", "line") == [
        ("a.md", "p.png", "alt", "S", 2, 5),
        ("a.md", "p.png", "alt", None, 1, 2),
        ("a.md", "p.png", None, None, 0, 1),
        ("a.md", "q.png", "z", "S", 3, 6),
    ]
    assert found.relationships("HAS_ATTACHMENT", "anchor", "ordinal") == [("a.md", "f.pdf", "page=2", 0)]


def test_a_property_link_to_a_file_is_typed_by_its_key(build):
    found = build({"a.md": {"links": ["cover: [[p.png]]"]}, "p.png": 1})
    assert found.relationships(None, "property") == [("a.md", "COVER", "p.png", "cover")]


def test_image_text_is_the_alt_texts_and_the_titles_of_what_shows_it(build):
    vault = {
        "a.md": {"title": "First", "links": ["![cat](p.png)", "![cat](p.png)", "![[q.png]]"]},
        "b.md": {"title": "Second", "links": ["![a dog](p.png)"]},
        "p.png": 1,
        "q.png": 1,
    }
    found = build(vault)
    assert found.properties("p.png")["text"] == "First\nSecond\na dog\ncat"
    assert found.properties("q.png")["text"] == "First"


def test_a_missing_file_is_a_stub_found_by_any_spelling(build):
    links = ["![[Gone.png]]", "![x](gone.PNG)", "![y](../up.png)", "[z](f.pdf)", "[[x.zip]]", "[h](page.html)"]
    found = build({"sub/a.md": {"links": links}})
    assert found.names() == ["sub/a.md", "page.html", "x.zip", "f.pdf", "Gone.png", "up.png", "Folder:sub"]
    assert found.properties("Gone.png") == {
        "id": "Gone.png",
        "path": "Gone.png",
        "title": "Gone.png",
        "missing": True,
        "_provisional": True,
        "text": "a\nx",
    }
    assert found.labels("f.pdf") == ("Attachment", "Pdf")
    assert found.problems("missing-attachment") == [("sub/a.md", line) for line in range(1, 7)]
    assert found.built.counts["missing_attachments"] == 6


def test_a_name_with_a_dot_is_a_missing_note_unless_it_is_embedded_or_a_known_kind_of_file(build):
    found = build({"a.md": {"links": ["[[Mr. X]]", "[[v1.2]]", "[[lib.foo]]", "![[lib.foo]]", "![[v1.2]]"]}})
    assert found.names() == ["a.md", "lib.foo", "Concept:lib.foo", "Concept:Mr. X", "Concept:v1.2"]


def test_a_canvas_is_a_node_with_links_to_its_cards_and_from_its_texts(build):
    cards = ["card sub/N.md", "card p.png", "card gone.md", "[[N]]", "![[p.png]]", "https://e.org"]
    vault = {"c/board.canvas": {"links": cards, "tags": ["t"]}, "sub/N.md": {}, "p.png": 1, "N.md": {}}
    found = build(vault)
    assert found.labels("c/board.canvas") == ("Attachment", "Canvas")
    assert found.relationships()[1:] == [
        ("c/board.canvas", "HAS_IMAGE", "p.png"),
        ("c/board.canvas", "LINKS_OUT", "Source:https://e.org"),
        ("c/board.canvas", "LINKS_TO", "Concept:gone"),
        ("c/board.canvas", "LINKS_TO", "N.md"),
        ("c/board.canvas", "LINKS_TO", "p.png"),
        ("c/board.canvas", "LINKS_TO", "sub/N.md"),
        ("c/board.canvas", "TAGGED", "Tag:t"),
    ]


def test_a_card_names_an_exact_vault_path(build):
    found = build({"c/b.canvas": {"links": ["card N.md"]}, "c/N.md": {}})
    assert ("c/b.canvas", "LINKS_TO", "Concept:N") in found.relationships()


def test_without_canvases_they_are_attachments_like_others(build):
    vault = {"a.md": {"links": ["[[b.canvas]]"]}, "b.canvas": {"links": ["card a.md"]}, "c.canvas": {}}
    found = build(vault, Profile(canvas=False))
    assert found.names() == ["a.md", "b.canvas"]
    assert found.relationships() == [("a.md", "HAS_ATTACHMENT", "b.canvas")]
    assert found.labels("b.canvas") == ("Attachment", "Canvas")
