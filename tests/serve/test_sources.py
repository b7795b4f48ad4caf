"""Reading, searching and listing files, and images: straight from the folder."""

import io
import re

import pytest
from PIL import Image


@pytest.fixture
def vault(local, sample):
    return local(sample)


def test_a_whole_file_comes_verbatim_under_its_name(vault, sample):
    text = vault.text("read_source", file_path="Home.md")
    assert text == "Home.md  (7 lines)\n" + (sample / "Home.md").read_text().rstrip("\n")


def test_a_slice_has_line_numbers(vault):
    text = vault.text("read_source", file_path="Boats/Selkie.md", start_line=10, end_line=12)
    assert text.split("\n")[0] == "Boats/Selkie.md  (lines 10-12 of 20)"
    assert text.split("\n")[1:] == ["10: ## Rig", "11: ", "12: Gaff."]


def test_a_heading_names_its_section(vault):
    text = vault.text("read_source", file_path="Boats/Selkie.md", heading="rig")
    assert "## Rig" in text
    assert "### Sails" in text
    assert "Crew" not in text
    nested = vault.text("read_source", file_path="Boats/Selkie.md", heading="Rig#Sails")
    assert "Two." in nested
    assert "Gaff" not in nested
    assert "Did you mean Sails?" in vault.error("read_source", file_path="Boats/Selkie.md", heading="Sail")


def test_grep_in_a_file_shows_matches_with_context(vault):
    text = vault.text("read_source", file_path="Boats/Selkie.md", grep="Two|Gaff", grep_context=1)
    assert text == ("Boats/Selkie.md  (2 matches in 20 lines)\n11- \n12: Gaff.\n13- \n--\n15- \n16: Two.\n17- ")
    one = vault.text("read_source", file_path="Boats/Selkie.md", grep="Two|Gaff", max_matches=1)
    assert "Two." not in one
    assert "1 more match" in one


def test_max_chars_cuts_and_says_so(vault):
    text = vault.text("read_source", file_path="Boats/Selkie.md", max_chars=10)
    assert text == (
        "Boats/Selkie.md  (lines 1-1 of 20)\n---\n"
        'cut at max_chars; 19 more lines: read_source(file_path="Boats/Selkie.md", start_line=2)'
    )


def test_a_long_note_answers_outline_first_part_and_the_next_call(local, write):
    body = "".join(f"## Part {part}\n\n" + "Some words of text.\n" * 200 for part in range(20))
    vault = local(write({"Long.md": body}))
    text = vault.text("read_source", file_path="Long.md")
    assert len(text.encode()) < 16_384
    assert "outline (line: heading):\n  1: ## Part 0\n  203: ## Part 1\n" in text
    assert "## Part 19" in text
    call = text.rsplit("\n", 1)[1]
    assert 'read_source(file_path="Long.md", start_line=' in call
    seen, start = [], 1
    while True:
        part = vault.text("read_source", file_path="Long.md", start_line=start)
        seen += re.findall(r"^ *\d+: (.*)$", part.split("text:\n")[-1], re.MULTILINE)
        if "read_source(" not in part:
            break
        start = int(part.rsplit("start_line=", 1)[1].rstrip(")"))
    assert "\n".join(seen) + "\n" == body


def test_a_note_is_found_by_title_alias_stem_or_path_without_suffix(vault):
    for name in ("Selkie", "selkie", "Boats/Selkie"):
        assert vault.text("read_source", file_path=name).startswith("Boats/Selkie.md  (")
    assert vault.text("read_source", file_path="START").startswith("Home.md  (")


def test_an_ambiguous_name_answers_its_candidates(local, write):
    vault = local(write({"a/Index.md": "one", "b/Index.md": "two", "c/Other.md": "# Index"}))
    message = vault.error("read_source", file_path="index")
    assert "2 notes are called `index`" in message
    assert "  a/Index.md\n  b/Index.md" in message


def test_a_missing_file_names_the_nearest(vault):
    assert "Boats/Selkie.md" in vault.error("read_source", file_path="Boats/Selky.md")


def test_odd_encodings_are_named(local, write):
    vault = local(write({"Bom.md": "\ufeff# Bom\r\ntext\r\n", "Latin.md": b"caf\xe9"}))
    assert vault.text("read_source", file_path="Bom.md").startswith("Bom.md  (2 lines)\n# Bom")
    assert vault.text("read_source", file_path="Latin.md") == (
        "Latin.md  (1 line; not UTF-8, odd bytes are shown as \ufffd)\ncaf\ufffd"
    )
    assert "Latin.md" in vault.text("grep", pattern="caf")


def test_a_ten_megabyte_note_is_read_in_parts_and_searched(local, write):
    vault = local(write({"Big.md": "# Big\n" + ("word " * 20 + "\n") * 100_000 + "needle\n"}))
    text = vault.text("read_source", file_path="Big.md")
    assert len(text.encode()) < 16_384
    assert "100,002" in text.split("\n")[0]
    assert "100002: needle" in vault.text("read_source", file_path="Big.md", grep="needle", grep_context=0)
    assert (
        vault.text("cypher_query", query="MATCH (n:Note) RETURN n.title, size(n.body) > 9000000 AS big").split("\n")[1]
        == "Big\ttrue"
    )


def test_names_of_255_bytes_are_served(local, write):
    name = "n" * 252 + ".md"
    wide = "海" * 84 + ".md"
    vault = local(write({name: "# Long name\n", wide: "wide [[" + name[:-3] + "]]\n"}))
    assert vault.text("read_source", file_path=name).endswith("\n# Long name")
    rows = vault.text("cypher_query", query="MATCH (a:Note)-[:LINKS_TO]->(b:Note) RETURN a.path, b.path")
    assert rows.split("\n")[1] == f"{wide}\t{name}"


def test_grep_prints_path_line_text_and_honours_context(vault):
    text = vault.text("grep", pattern="gaff", case_insensitive=True)
    assert text.split("\n")[0] == "Boats/Selkie.md:12:Gaff."
    around = vault.text("grep", pattern="Gaff", context=2)
    assert "Boats/Selkie.md-10-## Rig" in around
    assert "no match" in vault.text("grep", pattern="zzzz")
    capped = vault.text("grep", pattern=".", max_results=1)
    assert "more not shown" in capped
    assert "Log/Latin.md" in vault.text("grep", pattern="caf")
    assert "Boats" not in vault.text("grep", pattern="tags", glob="Log/*")
    assert vault.error("grep", pattern="(").startswith("parameter: ")


def test_listing_shows_a_tree(vault):
    text = vault.text("list_source")
    assert "Boats/" in text
    assert "Home.md" in text
    assert "Selkie.md" not in text
    deep = vault.text("list_source", depth=3)
    assert "Boats/\n  Fulmar.md  38\n  Selkie.md  130\nHome.md  " in deep
    folders = vault.text("list_source", dirs_only=True)
    assert "Home.md" not in folders
    assert "Did you mean Boats?" in vault.error("list_source", path="Boat")


def test_images_come_in_order_with_their_sizes(vault, sample):
    answer = vault.call("fetch_images", items=["media/chart.jpg", "media/selkie.png"])
    assert [part.mime for part in answer.parts[:2]] == ["image/jpeg", "image/png"]
    assert answer.parts[0].data == (sample / "media/chart.jpg").read_bytes()
    size = (sample / "media/chart.jpg").stat().st_size
    assert f"media/chart.jpg (image/jpeg, {size:,} bytes, 20 × 10)" in answer.text
    assert "(image/png, " in answer.text


def test_refused_images_take_no_place_and_say_why(vault):
    items = ["media/fake.png", "../x.png", "media/gone.png", "media/drawing.svg", "Home.md", "media/selkie.png"]
    answer = vault.call("fetch_images", items=items)
    assert not answer.is_error
    assert answer.text.startswith("delivered 1, refused 5")
    lines = answer.text.split("\n")
    assert any("media/fake.png" in line and "not" in line for line in lines)
    assert any("`..` is refused" in line for line in lines)
    assert any("media/gone.png" in line for line in lines)
    assert any("media/drawing.svg" in line and "svg" in line.split(":", 1)[1] for line in lines)


def test_a_refused_item_says_what_it_is_or_what_was_meant(vault):
    def refused(item):
        return vault.error("fetch_images", items=[item]).split("\n")[1]

    for address in ("https://example.org/a.png", "HTTP://x/y.png", "//x.org/a.png", "data:image/png;base64,xx"):
        assert refused(address) == f"- refused {address}: is a web address; only files of the vault are delivered."
    assert refused("media/drawing.svg").endswith("read_source shows its text.")
    assert "Did you mean media/selkie.png?" in refused("selky.png")
    assert "Did you mean media/chart.jpg?" in refused("nowhere/chart.jpgg")
    assert "or media/selkie.png?" in refused("selkie")
    assert "Did you mean" not in refused("zzzz")
    for name in ("Home", "home", "[[Home]]"):
        assert refused(name) == "- refused Home.md: is a note, not an image. read_source shows its text."
    assert refused("Boats/Fulmar").startswith("- refused Boats/Fulmar.md: is a note")
    for name in ("![[selkie.png|120]]", "media\\selkie.png"):
        assert vault.text("fetch_images", items=[name]).startswith("delivered 1")


def test_all_refused_is_an_error(vault):
    message = vault.error("fetch_images", items=["media/gone.png"])
    assert "media/gone.png" in message


def test_a_bare_name_resolves_where_it_is_unique(local, write, make_image):
    vault = local(write({"a/one.png": make_image(), "b/two.png": make_image(), "c/two.png": make_image()}))
    assert "a/one.png (image/png" in vault.text("fetch_images", items=["one.png"])
    assert "a/one.png (image/png" in vault.text("fetch_images", items=["ONE.PNG"])
    message = vault.error("fetch_images", items=["two.png"])
    assert "b/two.png" in message
    assert "c/two.png" in message


def test_the_same_image_is_delivered_once(vault):
    answer = vault.call("fetch_images", items=["media/selkie.png", "selkie.png", "./media/selkie.png"])
    assert len(answer.parts) == 2
    assert answer.text.startswith("delivered 1")


def test_a_fifth_image_waits_for_another_call(local, write, make_image):
    vault = local(write({f"i{index}.png": make_image() for index in range(6)}))
    answer = vault.call("fetch_images", items=[f"i{index}.png" for index in range(6)])
    assert len(answer.parts) == 5
    assert "i4.png" in answer.text
    assert "at most 4" in answer.text


def test_an_image_over_the_cap_is_refused_and_scaled_on_request(local, write, make_image):
    vault = local(write({"wide.png": make_image((400, 100))}))
    assert "over the cap" in vault.error("fetch_images", items=["wide.png"], max_bytes=50)
    answer = vault.call("fetch_images", items=["wide.png"], max_edge=40)
    assert Image.open(io.BytesIO(answer.parts[0].data)).size == (40, 10)
    assert "40 × 10" in answer.text


def test_images_whose_names_look_like_addresses_are_delivered_by_the_path_the_graph_gives(local, write, make_image):
    names = ["~t.png", "C:\\x.png", "file:y.png"]
    vault = local(write(dict.fromkeys(names, make_image())))
    assert vault.text("fetch_images", items=names).startswith("delivered 3\n- ~t.png (")
    assert "paths that start with ~ are refused" in vault.error("fetch_images", items=["~gone.png"])
