"""docs/queries.md: every query of it runs on the handbook, and gives what is printed there."""

import json
import re
import shlex
from pathlib import Path

import pytest

from vaultgraph.serve.vault_queries import QUERIES, WITH_PARTS, WITH_ROWS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "queries.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```cypher\n(.*?)\n```\n(?:\n```text\n(.*?)\n```\n)?", TEXT, re.DOTALL)
NOTE = {"Boathouse": "Station/Boathouse.md"}


def _trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip("\n").split("\n")]


@pytest.fixture
def on_handbook(vaultgraph, monkeypatch):
    """Run a command line that names `fixtures/handbook`; its output."""
    monkeypatch.chdir(ROOT)

    def run(*arguments):
        done = vaultgraph(*arguments, "--vault-cache", "none")
        assert done.code == 0, done.err
        return done.out

    return run


@pytest.mark.parametrize(("query", "shown"), BLOCKS)
def test_a_documented_query_gives_what_is_printed_below_it(on_handbook, query, shown):
    if not shown:
        on_handbook("query", "fixtures/handbook", query, "--param", "path=Station/Boathouse.md")
        return
    first, *rest = _trimmed(shown)
    if not first.startswith("$ vaultgraph "):
        assert _trimmed(on_handbook("query", "fixtures/handbook", query)) == [first, *rest]
        return
    command = shlex.split(first.removeprefix("$ vaultgraph "))
    assert _trimmed(on_handbook(*command)) == rest
    words = [word for word in command if word != "--total"]
    parameters = [part for note in words[2:] for part in ("--param", f"path={NOTE.get(note, note)}")]
    by_query = on_handbook("query", "fixtures/handbook", query, "--format", "json", *parameters)
    by_command = on_handbook(*words, "--format", "json")
    assert json.loads(by_query) == json.loads(by_command)


def test_the_queries_of_all_commands_are_documented():
    documented = [query for query, _ in BLOCKS]
    assert [name for name, text in {**QUERIES, **WITH_PARTS}.items() if text not in documented] == []
    assert set(WITH_ROWS.values()) <= set(documented)
    assert set(QUERIES.values()) <= set(documented)


def test_the_readme_shows_what_the_commands_print(on_handbook):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```text\n(\$ vaultgraph backlinks .*?)\n```\n", readme, re.DOTALL)
    shown = re.split(r"^\$ vaultgraph (.*)\n", block + "\n", flags=re.MULTILINE)[1:]
    assert len(shown) == 6
    for command, output in zip(shown[::2], shown[1::2], strict=True):
        assert _trimmed(on_handbook(*shlex.split(command)).replace("\r\n", "\n")) == _trimmed(output)
