"""The wheel: what a person who installs it gets is all that the package reads beside its modules."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from vaultgraph.serve.guidance import OWN_SKILLS

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> set[str]:
    """The names in a wheel built from the working tree; skipped where its build tool cannot be had."""
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--quiet", "--wheel-dir", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=110)
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or ["pip failed"]
        if "hatchling" in done.stderr or "Could not" in done.stderr:
            pytest.skip(f"no wheel without the build tool: {reason[0]}")
        raise AssertionError(done.stderr)
    (file,) = out.glob("vaultgraph-*.whl")
    with zipfile.ZipFile(file) as archive:
        return set(archive.namelist())


def test_every_file_of_the_package_is_in_the_wheel(wheel):
    files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "vaultgraph").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files - wheel == set()
    assert {f"vaultgraph/serve/skills/{name}.md" for name in OWN_SKILLS} <= wheel
    assert "vaultgraph/py.typed" in wheel or not (ROOT / "vaultgraph/py.typed").exists()


def test_the_wheel_holds_nothing_else_and_the_command(wheel):
    tops = {name.split("/", 1)[0] for name in wheel}
    assert "vaultgraph" in tops
    assert all(top == "vaultgraph" or top.endswith(".dist-info") for top in tops)
    assert any(name.endswith("/entry_points.txt") for name in wheel)
    assert any(name.endswith("/licenses/LICENSE") for name in wheel)


def test_the_package_reads_only_skills_beside_its_modules():
    others = {
        path.suffix
        for path in (ROOT / "vaultgraph").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".py", ".typed")
    }
    assert others == {".md"}
