"""The generator of benchmark vaults gives what it was asked for, the same every time."""

import hashlib
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from PIL import Image

SOURCE = Path(__file__).resolve().parents[1] / "benchmarks" / "make_vault.py"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_vault_under_test", SOURCE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def vault(generator: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("generated") / "vault"
    generator.make_vault(out, generator.Size(notes=300, links=2000, images=20, folders=12, tags=50, seed=7))
    return out


def digest(folder: Path) -> str:
    """One hash over every path and every byte below ``folder``."""
    found = hashlib.blake2b()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def outside_fences(text: str) -> str:
    return re.sub(r"(?ms)^```.*?^```", "", text)


def test_equal_arguments_give_equal_bytes(generator: ModuleType, vault: Path, tmp_path: Path) -> None:
    generator.make_vault(
        tmp_path / "again", generator.Size(notes=300, links=2000, images=20, folders=12, tags=50, seed=7)
    )
    assert digest(tmp_path / "again") == digest(vault)


def test_another_seed_gives_another_vault(generator: ModuleType, vault: Path, tmp_path: Path) -> None:
    generator.make_vault(
        tmp_path / "other", generator.Size(notes=300, links=2000, images=20, folders=12, tags=50, seed=8)
    )
    assert digest(tmp_path / "other") != digest(vault)


def test_it_writes_the_notes_links_and_pictures_that_were_asked_for(vault: Path) -> None:
    texts = [outside_fences(path.read_text(encoding="utf-8")) for path in vault.rglob("*.md")]
    assert len(texts) == 300
    assert sum(len(re.findall(r"(?<!!)\[\[", text)) for text in texts) == 2000
    assert len(list(vault.rglob("*.png"))) == 20
    assert len({path.parent for path in vault.rglob("*.md")}) <= 12


def test_a_note_is_about_two_kilobytes_and_its_frontmatter_can_be_read(vault: Path) -> None:
    notes = list(vault.rglob("*.md"))
    assert 1500 < sum(path.stat().st_size for path in notes) / len(notes) < 3000
    for path in notes:
        block = yaml.safe_load(path.read_text(encoding="utf-8").split("---\n")[1])
        assert {"type", "status", "rating", "created", "tags"} <= set(block), path


def test_most_links_lead_to_a_note_and_a_few_dangle(vault: Path) -> None:
    stems = {path.stem for path in vault.rglob("*.md")}
    texts = [outside_fences(path.read_text(encoding="utf-8")) for path in vault.rglob("*.md")]
    targets = [target for text in texts for target in re.findall(r"(?<!!)\[\[([^\]|#]+)", text)]
    dangling = [target for target in targets if target not in stems]
    assert all(target.startswith("Missing ") for target in dangling)
    assert 0 < len(dangling) < len(targets) * 0.05


def test_an_anchor_names_a_heading_of_its_target(vault: Path) -> None:
    notes = {path.stem: path.read_text(encoding="utf-8") for path in vault.rglob("*.md")}
    anchored = [
        pair for text in notes.values() for pair in re.findall(r"\[\[([^\]|#]+)#([^\]|]+)", outside_fences(text))
    ]
    assert anchored
    for target, heading in anchored:
        assert f"\n## {heading}\n" in notes[target]


def test_its_pictures_are_pictures(vault: Path) -> None:
    for path in vault.rglob("*.png"):
        with Image.open(path) as picture:
            picture.load()
            assert picture.format == "PNG"


def test_a_folder_that_holds_something_is_left_alone(generator: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("mine", encoding="utf-8")
    with pytest.raises(FileExistsError, match="is not empty"):
        generator.make_vault(tmp_path, generator.Size(notes=1))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.md"]


def test_an_empty_vault_can_be_asked_for(generator: ModuleType, tmp_path: Path) -> None:
    made = generator.make_vault(tmp_path / "none", generator.Size(notes=0, links=10, images=0, folders=0, tags=0))
    assert made["notes"] == 0
    assert made["links"] == 0
