"""Reading text: whole, sliced, searched, by heading."""

import pytest

from vaultgraph.errors import FileError, MissingFileError, ParameterError
from vaultgraph.files.read import Heading, outline, read_text

NOTE = """---
tags: [a]
# no heading
---
# Top

intro
## Part one ##
one
```
# code
## Part two
```
### Deep
deep
## Part two
two
#tag is no heading
"""


def test_a_whole_file_comes_as_it_is(make_vault):
    root = make_vault({"Note.md": "a\r\nb\rc\n"})
    part = read_text(root, "Note.md")
    assert (part.path, part.text, part.first_line, part.last_line, part.total_lines) == ("Note.md", "a\nb\nc", 1, 3, 3)
    assert (part.is_numbered, part.is_cut, part.size_bytes, part.is_utf8) == (False, False, 7, True)
    empty = read_text(make_vault({"Empty.md": ""}), "Empty.md", start_line=1)
    assert (empty.text, empty.first_line, empty.last_line, empty.total_lines) == ("", 0, 0, 0)


def test_a_slice_has_line_numbers(make_vault):
    root = make_vault({"Note.md": "\n".join(f"line {number}" for number in range(1, 13))})
    part = read_text(root, "Note.md", 9, 10)
    assert part.text == " 9: line 9\n10: line 10"
    assert (part.first_line, part.last_line, part.total_lines, part.is_numbered) == (9, 10, 12, True)
    assert read_text(root, "Note.md", start_line=12).text == "12: line 12"
    assert read_text(root, "Note.md", end_line=1).text == "1: line 1"
    assert read_text(root, "Note.md", 11, 99).last_line == 12


@pytest.mark.parametrize(
    ("start", "end", "name"),
    [(13, None, "start_line"), (0, None, "start_line"), (5, 4, "end_line"), (None, 0, "end_line")],
)
def test_lines_that_are_not_there_are_parameter_errors(make_vault, start, end, name):
    root = make_vault({"Note.md": "x\n" * 12})
    with pytest.raises(ParameterError) as error:
        read_text(root, "Note.md", start, end)
    assert error.value.data["name"] == name


def test_a_start_past_the_end_says_how_many_lines_there_are(make_vault):
    with pytest.raises(ParameterError, match="has 2 lines, so there is no line 900"):
        read_text(make_vault({"Note.md": "a\nb\n"}), "Note.md", 900)


def test_a_pattern_shows_groups_with_context(make_vault):
    root = make_vault({"Note.md": "0\n1 x\n2\n3\n4\n5\n6 x\n7 x"})
    part = read_text(root, "Note.md", pattern="x", context=1)
    assert part.text == "1- 0\n2: 1 x\n3- 2\n--\n6- 5\n7: 6 x\n8: 7 x"
    assert (part.matches, part.shown_matches) == (3, 3)
    first = read_text(root, "Note.md", pattern="x", context=0, most_matches=1)
    assert (first.text, first.matches, first.shown_matches) == ("2: 1 x", 3, 1)
    none = read_text(root, "Note.md", pattern="zzz")
    assert (none.text, none.matches, none.first_line) == ("", 0, 0)
    part = read_text(root, "Note.md", 3, 7, pattern="x", context=5)
    assert part.text.splitlines()[0] == "3- 2"
    assert part.text.splitlines()[-1] == "7: 6 x"


def test_a_heading_gives_its_section(make_vault):
    root = make_vault({"Note.md": NOTE})
    assert read_text(root, "Note.md", heading="Part two").text == "16: ## Part two\n17: two\n18: #tag is no heading"
    part = read_text(root, "Note.md", heading="## part  ONE")
    assert (part.first_line, part.last_line) == (8, 15)
    assert read_text(root, "Note.md", heading="Part one#Deep").text == "14: ### Deep\n15: deep"
    assert read_text(root, "Note.md", heading="Top").last_line == 18
    assert read_text(root, "Note.md", heading="Part one", pattern="code", context=0).text == "11: # code"


@pytest.mark.parametrize("heading", ["Part twoo", "no heading", "code", "Part two#Deep", "", "#"])
def test_a_heading_that_is_not_there_names_the_nearest(make_vault, heading):
    root = make_vault({"Note.md": NOTE})
    with pytest.raises(ParameterError) as error:
        read_text(root, "Note.md", heading=heading)
    assert error.value.data["name"] == "heading"
    if heading == "Part twoo":
        assert error.value.data["nearest"][0] == "Part two"


def test_a_cut_keeps_whole_lines_and_says_where_it_stopped(make_vault):
    root = make_vault({"Note.md": "aaaa\nbbbb\ncccc"})
    part = read_text(root, "Note.md", most_chars=10)
    assert (part.text, part.last_line, part.is_cut) == ("aaaa\nbbbb", 2, True)
    assert read_text(root, "Note.md", most_chars=14).is_cut is False
    part = read_text(root, "Note.md", most_chars=3)
    assert (part.text, part.last_line, part.is_cut) == ("aaa", 1, True)
    assert read_text(root, "Note.md", pattern="c|a", context=0, most_chars=8).shown_matches == 1


def test_a_note_that_is_not_utf8_is_shown_with_a_flag(make_vault):
    part = read_text(make_vault({"Latin.md": b"caf\xe9"}), "Latin.md")
    assert (part.text, part.is_utf8) == ("caf\ufffd", False)
    part = read_text(make_vault({"Bom.md": b"\xef\xbb\xbf---\ntitle: x"}), "Bom.md")
    assert (part.text, part.is_utf8) == ("---\ntitle: x", True)
    assert read_text(make_vault({"Nul.md": b"a\0b"}), "Nul.md").text == "a\0b"


def test_what_is_no_text_is_named_with_the_tool_to_use(make_vault):
    root = make_vault({
        "a.png": b"\x89PNG\r\n\x1a\n....", "b.pdf": b"%PDF-1.7", "c.bin": b"a\0b", "d.md": b"\xff\xd8\xff\xe0",
        "e.svg": "<svg/>",
    })  # fmt: skip
    for path, words in (
        ("a.png", "fetch_images"),
        ("b.pdf", "application/pdf"),
        ("c.bin", "binary"),
        ("d.md", "image/jpeg"),
    ):
        with pytest.raises(FileError, match=words):
            read_text(root, path)
    assert read_text(root, "e.svg").text == "<svg/>"
    with pytest.raises(MissingFileError):
        read_text(root, "f.md")


def test_the_outline_knows_headings_from_their_look_alikes():
    text = (
        "Title\n=====\n\nPart\n---\n\n- item\n---\n\n#\n####### seven\n# C# #\n    # code\n"
        "~~~ x\n# in\n```\n~~~\n# out\n``` a`b\n# x"
    )
    assert outline(text) == (
        Heading(1, 1, "Title"),
        Heading(4, 2, "Part"),
        Heading(10, 1, ""),
        Heading(12, 1, "C#"),
        Heading(18, 1, "out"),
        Heading(20, 1, "x"),
    )
    assert [heading.text for heading in outline(NOTE)] == ["Top", "Part one", "Deep", "Part two"]
    assert outline("---\n# open frontmatter") == (Heading(2, 1, "open frontmatter"),)
    assert outline("# " + " \t#" * 50_000) != ()
