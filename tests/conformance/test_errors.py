"""Vaults that Obsidian opens without complaint have no errors but true ones."""

import os
import re
from pathlib import Path

import pytest
import yaml

VAULTS = Path(os.environ.get("VAULTGRAPH_SHARED", Path(__file__).parents[3] / "shared")) / "vaults"
MOST_BYTES = 4_000_000  # larger ones take too long here
NAMES = sorted(
    path.name.removesuffix(".tar.xz") for path in VAULTS.glob("*.tar.xz") if path.stat().st_size < MOST_BYTES
)

pytestmark = pytest.mark.skipif(not NAMES, reason=f"no packed vaults under {VAULTS}")


def is_out(line, depth):
    """Whether a line of a note in a folder of ``depth`` names something that is not in the vault."""
    climbs = [len(re.findall(r"\.\./", found)) for found in re.findall(r"[(\[<](?:\.?/)?((?:\.\./)+)", line)]
    return any(climb > depth for climb in climbs) or re.search(r"file:|(?<![A-Za-z])[A-Za-z]:[\\/]", line) is not None


def is_refused(text):
    """Whether YAML's own reader refuses a frontmatter, or it gives a key twice."""
    front = text.removeprefix("\ufeff").split("\n---")[0].removeprefix("---\n")
    try:
        tree = yaml.compose(front)
    except yaml.YAMLError:
        return True
    keys = [key.value for key, _ in tree.value]
    return len(set(keys)) < len(keys)


@pytest.mark.parametrize("name", NAMES)
def test_every_error_is_a_true_one(name, build_packed):
    built, notes = build_packed(name)
    wrong = []
    for path, line, code in built.problems.filter(severity="error").select("path", "line", "code").iter_rows():
        text = notes[path].decode()
        true = {
            "outside-vault": lambda text=text, line=line, path=path: is_out(
                text.splitlines()[line - 1], path.count("/")
            ),
            "bad-frontmatter": lambda text=text: is_refused(text),
        }
        if code not in true or not true[code]():
            wrong.append((path, line, code))
    assert wrong == []
    assert built.graph.node_count > len(notes) * 0.9
