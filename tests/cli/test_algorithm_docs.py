"""docs/algorithms.md: every query of it gives what is printed below it, and it names every option and column."""

import re
from pathlib import Path

import pytest

from vaultgraph.cypher.algorithms.declared import ALGORITHMS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```cypher\n(.*?)\n```\n\n```text\n(.*?)\n```\n", TEXT, re.DOTALL)


def _trimmed(text):
    return [line.rstrip() for line in text.rstrip("\n").split("\n")]


@pytest.mark.parametrize(("query", "shown"), BLOCKS)
def test_a_documented_algorithm_gives_what_is_printed_below_it(vaultgraph, query, shown):
    done = vaultgraph("query", str(ROOT / "fixtures" / "handbook"), query, "--vault-cache", "none")
    assert done.code == 0, done.err
    assert _trimmed(done.out) == _trimmed(shown)


def test_every_query_has_its_answer():
    assert len(BLOCKS) == TEXT.count("```cypher") >= len(ALGORITHMS)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_the_table_has_every_column_and_option(name):
    algorithm = ALGORITHMS[name]
    (row,) = re.findall(rf"^\| [^|]* \| `{re.escape(algorithm.name)}` \| (.*) \| (.*) \|$", TEXT, re.MULTILINE)
    columns, options = (re.findall(r"`(\w+)`", cell) for cell in row)
    assert ["node", *columns] == list(algorithm.columns)
    assert ["labels", "types", "nodes", *options] == list(algorithm.options)
    assert f"## {algorithm.name}\n" in TEXT
