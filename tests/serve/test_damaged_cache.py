"""A cache file that is damaged while it is served costs a rebuild: every operation answers, none of them wrong."""

from pathlib import Path

import pytest

from vaultgraph.errors import CorruptKglError
from vaultgraph.serve import recipes
from vaultgraph.serve.manifest import Manifest, ValueCodec
from vaultgraph.vault.vault import open_vault

LONG = "words of the body, " * 30
NOTES = {
    "a.md": f"---\nvalid_from: 2001-01-01\nstatus: done\n---\n{LONG}",
    "b.md": LONG,
    ".kglite/vaultgraph.yaml": "valid_time: {labels: [Note]}\n",
    ".kglite/recipes/r.md": "---\nrecipe: r\nname: bodies\ndescription: Bodies.\n---\n"
    "```cypher\nMATCH (n:Note) RETURN n.body\n```\n",
}
BODIES = "MATCH (n:Note) RETURN n.body ORDER BY n.path"


@pytest.fixture
def damaged(local, write):
    """A vault served from its cache, in which a body was changed after it was opened."""

    def start(manifest: Manifest | None = None):
        folder: Path = write(NOTES)
        with open_vault(folder):
            pass
        served = local(folder, cache="default")
        served.session.manifest = manifest or Manifest()
        served.session.wait_built(30)
        assert served.session.vault().report.origin == "cache"
        path = folder / ".kglite/graph.kgl"
        with path.open("r+b") as file:
            file.seek(path.read_bytes().rindex(b"words of the body"))
            file.write(b"WORDS")
        return served

    return start


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("cypher_query", {"query": BODIES}),
        ("cypher_query", {"query": BODIES, "valid_at": "2005-01-01"}),
        ("cypher_query", {"query": BODIES, "valid_at": "all", "format": "json"}),
        ("cypher_query", {"query": BODIES, "format": "csv"}),
        ("graph_overview", {"types": ["Note"]}),
        ("run_recipe_query", {"recipe": "r", "query": "bodies"}),
    ],
)
def test_the_operation_answers_from_the_notes(damaged, tool, arguments):
    answer = damaged().call(tool, **arguments)
    assert not answer.is_error, answer.text
    said = f"{answer.text}{answer.structured or ''}"
    assert "WORDS" not in said
    if tool != "graph_overview":
        assert said.count("words of the body, words") >= 2


def test_a_recipe_that_fails_again_answers_structure(damaged, monkeypatch):
    def broken(*_arguments, **_more):
        raise CorruptKglError("damaged again")

    monkeypatch.setattr(recipes, "ask", broken)
    answer = damaged().call("run_recipe_query", recipe="r", query="bodies")
    assert answer.is_error
    assert (answer.structured["code"], answer.structured["message"]) == ("no_active_graph", "damaged again")


def test_so_it_does_where_values_are_written_otherwise(damaged):
    codec = ValueCodec("status", "prefix", prefix="x-")
    text = damaged(Manifest(value_codecs=(codec,))).text("cypher_query", query="MATCH (n:Note) RETURN n.status, n.body")
    assert 'x-done\t"words of the body' in text


def test_the_librarys_door_does_so_too(write):
    folder = write(NOTES)
    with open_vault(folder):
        pass
    with open_vault(folder) as vault:
        path = folder / ".kglite/graph.kgl"
        path.write_bytes(path.read_bytes().replace(b"words of the body", b"WORDS of the body", 1))
        assert vault.query(BODIES, valid_at="2005-01-01").rows == [(LONG,), (LONG,)]
