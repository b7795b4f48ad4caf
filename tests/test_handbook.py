"""The handbook fixture keeps what other tests and the documentation rely on."""

import json
import re
import shutil
import subprocess
import unicodedata
from datetime import date, datetime
from pathlib import Path

import frontmatter
import pytest
import yaml
from PIL import Image

import vaultgraph

ROOT = Path(__file__).resolve().parents[1]
HANDBOOK = ROOT / "fixtures" / "handbook"
EXAMPLE = ROOT / ".kglite-example"
BROKEN = "Protocols/Broken header.md"


def is_read(path: Path) -> bool:
    parts = path.relative_to(HANDBOOK).parts
    return not any(part.startswith(".") for part in parts) and parts[0] != "templates"


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Every note that is read, by vault-relative path, without BOM and with plain line ends."""
    paths = sorted(path for path in HANDBOOK.rglob("*.md") if is_read(path))
    return {
        path.relative_to(HANDBOOK).as_posix(): path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
        for path in paths
    }


@pytest.fixture(scope="module")
def properties(texts: dict[str, str]) -> dict[str, dict[str, object]]:
    """Frontmatter by path, of every note whose YAML can be read."""
    return {
        path: yaml.safe_load(text.split("\n---\n", 1)[0].removeprefix("---\n"))
        for path, text in texts.items()
        if path != BROKEN and text.startswith("---\n")
    }


def test_it_has_about_sixty_notes_in_six_folders(texts: dict[str, str]) -> None:
    folders = {path.split("/")[0] for path in texts if "/" in path}
    assert folders == {"Boats", "Log", "People", "Protocols", "Species", "Station"}
    assert 60 <= len(texts) <= 75


def test_file_names_are_composed_and_some_are_not_ascii() -> None:
    names = [path.name for path in HANDBOOK.rglob("*")]
    assert all(unicodedata.is_normalized("NFC", name) for name in names)
    assert {"☕ Mess rota.md", "大久保 真矢.md", "Børsteorm.md", "Pádraig Quill.md", "ウミウシ.png"} <= set(names)


def test_one_note_begins_with_a_bom_and_one_has_crlf_line_ends() -> None:
    contents = {path.relative_to(HANDBOOK).as_posix(): path.read_bytes() for path in HANDBOOK.rglob("*.md")}
    assert [path for path, data in contents.items() if data.startswith(b"\xef\xbb\xbf")] == ["Notice board.md"]
    assert [path for path, data in contents.items() if b"\r\n" in data] == ["Log/2026-05-04.md"]


def test_git_keeps_every_byte_of_it() -> None:
    path = "fixtures/handbook/Log/2026-05-04.md"
    command = ["git", "check-attr", "text", "--", path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    assert done.stdout.strip() == f"{path}: text: unset"


def test_frontmatter_has_every_shape(properties: dict[str, dict[str, object]]) -> None:
    values = [value for block in properties.values() for value in block.values()]
    kinds = {type(value) for value in values}
    assert {str, int, float, bool, date, datetime, list, dict, type(None)} <= kinds
    assert any(isinstance(value, list) and len({type(item) for item in value}) > 2 for value in values)
    assert [] in values
    stamps = [value for value in values if isinstance(value, datetime)]
    assert {stamp.tzinfo is None for stamp in stamps} == {True, False}


def test_the_reserved_keys_come_in_their_regular_and_their_odd_shapes(properties: dict[str, dict[str, object]]) -> None:
    for key in ("aliases", "tags"):
        shapes = {type(block[key]) for block in properties.values() if key in block}
        assert shapes == {list, str}, key
    assert {type(block["type"]) for block in properties.values() if "type" in block} == {list, str}
    assert {type(block["id"]) for block in properties.values() if "id" in block} == {int, str}
    assert [path for path, block in properties.items() if block.get("kg_skip") is True] == ["Log/draft week.md"]
    assert sum("parent" in block for block in properties.values()) > 5


def test_one_note_has_json_frontmatter(texts: dict[str, str]) -> None:
    found = [path for path, text in texts.items() if text.startswith("---\n{")]
    assert found == ["Species/Black guillemot.md"]
    assert json.loads(texts[found[0]].split("---\n")[1])["latin"] == "Cepphus grylle"


def test_exactly_one_note_has_frontmatter_that_cannot_be_read(texts: dict[str, str]) -> None:
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(texts[BROKEN].split("---\n")[1])


def test_the_property_wind_knots_mixes_numbers_and_a_word(properties: dict[str, dict[str, object]]) -> None:
    kinds = {type(block["wind_knots"]) for block in properties.values() if "wind_knots" in block}
    assert kinds == {int, float, str}


@pytest.mark.parametrize(
    "written",
    [
        r"[[大久保 真矢\|Maya]]",
        "[[#First day]]",
        "[tides](#Tides)",
        "[[First aid#^kit-locations|",
        "[notice board](<Notice board.md>)",
        '(Glossary.md#Tides "DEFINED_IN")',
        "[field sheet][sheet]",
        "(../Protocols/Quadrat%20survey.md#Measuring)",
        "(https://example.com/marine-lab/(samples))",
        "![[Plankton tow#Under way]]",
        "![[Grey seal#^sea]]",
        "![[puffin.webp|A puffin, drawn by somebody who was cold|160]]",
        "![[beacon.gif|48x80]]",
        "slip|240x140](kittiwake.jpg)",
        "[[Tide table 2026.pdf]]",
        "[[Tide table 2031.pdf]]",
        "![[first aid poster.png|poster]]",
        "[[Sand eel]]",
        r"\[\[Engines\]\]",
        "%% ask [[大久保 真矢]] whether ten would do %%",
        "<!-- The old lab plan linked to [[Darkroom]]",
        "[raised_on:: 2009-06-21]",
        "location:: [[Station]]",
        "#観察/磯",
        "#🥣",
        "[^bolt]:",
        "$$\n",
        "> [!danger]",
        "- [/] Replace",
        "~~~sql",
    ],
)
def test_it_holds(written: str, texts: dict[str, str]) -> None:
    assert any(written in text for text in texts.values())


def test_notes_of_one_name_lie_in_two_folders(texts: dict[str, str]) -> None:
    assert {"Boats/Kittiwake.md", "Species/Kittiwake.md", "Boats/Index.md", "Protocols/Index.md"} <= set(texts)


def test_both_forms_of_a_folder_note_are_there(texts: dict[str, str]) -> None:
    assert {"Station.md", "Species/Species.md"} <= set(texts)
    assert (HANDBOOK / "Station").is_dir()


def test_a_skipped_folder_holds_templates_that_are_no_yaml() -> None:
    settings = yaml.safe_load((HANDBOOK / ".kglite/vault.yaml").read_text(encoding="utf-8"))
    assert settings["kglite_vault"] == 1
    assert settings["skip_dirs"] == ["templates"]
    assert "{{date}}" in (HANDBOOK / "templates/Daily log.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("path", "kind", "size"),
    [
        ("media/skerry map.png", "PNG", (320, 200)),
        ("media/tide curve.png", "PNG", (288, 120)),
        ("media/ウミウシ.png", "PNG", (120, 72)),
        ("media/beacon.gif", "GIF", (48, 80)),
        ("media/puffin.webp", "WEBP", (160, 160)),
        ("Boats/kittiwake.jpg", "JPEG", (240, 140)),
        ("media/old photo.png", "JPEG", (120, 70)),  # its name lies about what it is
    ],
)
def test_a_picture_is_small_and_what_its_header_says(path: str, kind: str, size: tuple[int, int]) -> None:
    assert (HANDBOOK / path).stat().st_size < 4096
    with Image.open(HANDBOOK / path) as picture:
        picture.load()
        assert (picture.format, picture.size) == (kind, size)


def test_the_canvas_names_files_that_exist() -> None:
    canvas = json.loads((HANDBOOK / "Season plan.canvas").read_text(encoding="utf-8"))
    files = [card["file"] for card in canvas["nodes"] if card["type"] == "file"]
    assert len(files) == 3
    assert all((HANDBOOK / file).is_file() for file in files)
    assert {card["type"] for card in canvas["nodes"]} == {"file", "text", "link", "group"}


@pytest.mark.parametrize("folder", [HANDBOOK / ".kglite", EXAMPLE], ids=["handbook", "example"])
def test_guidance_follows_the_format(folder: Path) -> None:
    skills = sorted((folder / "skills").glob("*.md"))
    recipes = sorted((folder / "recipes").glob("*.md"))
    assert skills
    assert recipes
    for path in skills:
        assert {"name", "description"} <= set(frontmatter.load(str(path)).metadata)
    for path in recipes:
        note = frontmatter.load(str(path))
        assert {"recipe", "name", "description", "recipe_description", "parameters"} <= set(note.metadata)
        (query,) = re.findall(r"(?ms)^```cypher\n(.*?)^```", note.content)
        parameters = note.metadata["parameters"]
        declared = parameters["properties"]
        assert set(re.findall(r"\$(\w+)", query)) == set(declared)
        assert parameters["additionalProperties"] is False
        assert {name for name, schema in declared.items() if "default" not in schema} == set(
            parameters.get("required", [])
        )


def test_the_example_folder_sets_only_defaults() -> None:
    settings = yaml.safe_load((EXAMPLE / "vault.yaml").read_text(encoding="utf-8"))
    assert settings == {
        "kglite_vault": 1,
        "label_from": "type",
        "skip_dirs": [],
        "folder_notes": {"edge": "CHILD_OF", "direction": "child_to_parent"},
        "hubs": {},
        "heading_edges": {},
        "types": {},
    }
    ours = yaml.safe_load((EXAMPLE / "vaultgraph.yaml").read_text(encoding="utf-8"))
    assert ours == {"note_label": "Note", "canvas": True, "resolution": "forgiving"}


def test_the_committed_cache_is_what_a_build_writes(tmp_path: Path):
    """After a change of the reader or the builder: build the handbook anew and commit its graph.kgl."""
    copy = tmp_path / "handbook"
    shutil.copytree(HANDBOOK, copy)
    committed = (copy / ".kglite" / "graph.kgl").read_bytes()
    with vaultgraph.open(copy) as vault:
        assert vault.report.origin == "cache"
        assert vault.report.parsed == 0
    (copy / ".kglite" / "graph.kgl").unlink()
    vaultgraph.open(copy).close()
    assert (copy / ".kglite" / "graph.kgl").read_bytes() == committed
