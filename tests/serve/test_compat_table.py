"""The document on compatibility: complete, and held to what is there."""

import ast
import re
from pathlib import Path

import pytest

from vaultgraph.cli.opening import ServeOptions, open_session
from vaultgraph.serve.dispatch import dispatch
from vaultgraph.serve.operations import OPERATIONS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in row.split("|")[1:-1]] for row in TEXT.split("\n") if re.match(r"\| W\d", row)]
THERE = {
    "cypher_query": {"query", "params", "timeout_ms", "valid_at"},
    "graph_overview": {"types", "connections", "cypher"},
    "read_source": {
        "file_path", "start_line", "end_line", "grep", "grep_context", "max_matches", "max_chars", "rev",
    },
    "grep": {"pattern", "glob", "context", "max_results", "case_insensitive"},
    "list_source": {"path", "depth", "glob", "dirs_only"},
    "fetch_images": {"items", "max_bytes"},
    "ping": {"message", "reload"},
    "rebuild_graph": set(),
    "reload_graph": set(),
    "skill": {"name"},
    "list_recipe_queries": {"recipe"},
    "run_recipe_query": {"recipe", "query", "variables", "include_cypher", "valid_at"},
    "expand_response": {"result_id", "path", "offset", "response"},
}  # fmt: skip
"""The arguments of the reference server's tools in a vault that is only read."""
MANIFEST = """name: Harbour
instructions: Start with graph_overview.
overview_prefix: Boats are in Boats/.
source_root: .
trust: {allow_embedder: false, allow_python_tools: false}
builtins: {save_graph: false, temp_cleanup: on_overview, github: false, screen_stargazers: false}
skills: [true, ./advice]
tools:
  - name: notes_by_tag
    description: Notes with a tag.
    parameters: {type: object, properties: {tag: {type: string, default: sea}}}
    cypher: 'MATCH (n)-[:TAGGED]->({id: $tag}) RETURN n.concept_id AS id, n.file_path AS path ORDER BY id'
  - {bundled: grep, description: Lines of the harbour's notes.}
  - {bundled: explore, hidden: true}
extensions:
  cypher_recipes:
    help:
      description: Vault helpers.
      queries:
        all: {description: All boats., cypher: 'MATCH (n:Boats) RETURN n.title AS title'}
  tools_allow: [graph_overview, cypher_query, grep, notes_by_tag, list_recipe_queries, run_recipe_query, read_source]
  fetch_images: {max_items: 8, max_bytes_per_image: 1000000, max_total_bytes: 4000000}
  csv_http_server: false
  value_codecs: [{property: status, kind: map, map: {finished: done}}]
  valid_time: {default: all}
  writable: false
  write_scope: [Note]
  write_budget: {}
  ontology: {}
  parallel: true
  graph_watch: true
  recipe_catalog: {block_budget: 100, description_budget: 100}
  recipe_tools: true
  embeddings: {}
  columns: {}
  topology: {}
"""


def test_every_weakness_has_its_row_once_and_in_order():
    assert [row[0] for row in ROWS] == [f"W{number}" for number in range(1, 31)]
    assert all(len(row) == 4 and all(row) for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_every_row_names_tests_that_are_there(row):
    names = re.findall(r"`(test_\w+)`", row[3])
    assert names
    assert re.sub(r"`test_\w+`|, ", "", row[3]) == ""
    there = {
        node.name
        for path in Path(__file__).parent.glob("test_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert set(names) <= there


@pytest.mark.parametrize("tool", THERE)
def test_arguments_that_are_not_taken_over_are_in_the_document(tool):
    missing = THERE[tool] - set(OPERATIONS[tool].parameters["properties"])
    (differs,) = re.findall(rf"^\| `{tool}`[^|]*\|(.*)\|$", TEXT, re.MULTILINE) or [""]
    assert all(f"`{name}`" in differs for name in missing)
    required = set(OPERATIONS[tool].parameters.get("required", ()))
    assert required <= THERE[tool]


def test_a_manifest_with_every_key_is_served_and_what_has_no_effect_is_said(write):
    folder = write(
        {
            "Boats/Selkie.md": "# Selkie\n\n#sea\n",
            "advice/grep.md": "---\nname: grep\ndescription: How to grep.\n---\nShort words.\n",
            "workspace_mcp.yaml": MANIFEST,
        }
    )
    session, remarks = open_session(ServeOptions(str(folder), "none", None, "off", "warning"))
    session.start()
    assert session.wait_built(30)
    assert dispatch(session, "notes_by_tag", {}).text.split("\n")[:2] == ["id\tpath", "Selkie\tBoats/Selkie.md"]
    recipe = dispatch(session, "run_recipe_query", {"recipe": "help", "query": "all", "variables": {}})
    assert recipe.structured["result"]["rows"] == [["Selkie"]]
    assert dispatch(session, "skill", {"name": "grep"}).text.endswith("Short words.\n")
    assert dispatch(session, "graph_overview", {}).text.startswith("Boats are in Boats/.\n\nHarbour")
    assert dispatch(session, "ping", {}).is_error
    session.close()
    said = {match[1] for remark in remarks for match in [re.search(r"`([\w.]+)", remark)] if match}
    silent = {"extensions.tools_allow", "extensions.fetch_images", "extensions.valid_time", "extensions.cypher_recipes"}
    assert not said & silent
    assert {f"extensions.{name}" for name in ("write_scope", "parallel", "graph_watch", "topology")} <= said
    assert {"source_root", "explore"} <= said


def test_keys_that_end_the_start_are_in_the_document():
    assert "but `workspace` and the old `embedder` at the" in " ".join(TEXT.split())
