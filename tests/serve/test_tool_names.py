"""Tools a manifest renamed or hid: no words of ours call them by a name that callers do not have."""

import re

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from vaultgraph.cli.opening import ServeOptions, open_session
from vaultgraph.serve.dispatch import dispatch
from vaultgraph.serve.instructions import instructions_of
from vaultgraph.serve.mcp_server import make_server
from vaultgraph.serve.resources import MOST_TEXT_BYTES
from vaultgraph.serve.surface import operations_of
from vaultgraph.serve.tool_names import in_callers_words

NOTES = {
    "Home.md": "# Home\n\ncypher_query is what this note is about.\n",
    "Long.md": "".join(f"line {number} of a long note, and some more words\n" for number in range(2000)),
    "pic.txt": "no picture",
    ".kglite/recipes/a.md": "---\nrecipe: r\nname: all\ndescription: All.\n---\n```cypher\nRETURN 1 AS n\n```\n",
    ".kglite/skills/tour.md": "---\nname: tour\ndescription: A tour.\nreferences_tools: [cypher_query, ask, no, grep]\n"
    "---\nx\n",
}
RENAMED = "tools:\n" + "".join(
    f"- {{bundled: {name}, rename: {called}}}\n"
    for name, called in {
        "graph_overview": "map",
        "cypher_query": "ask",
        "read_source": "show",
        "list_source": "tree",
        "fetch_images": "pictures",
        "rebuild_graph": "anew",
        "list_recipe_queries": "menu",
        "run_recipe_query": "cook",
        "skill": "advice",
    }.items()
)
OLD = re.compile("graph_overview|cypher_query|read_source|list_source|fetch_images|rebuild_graph|recipe_quer")


@pytest.fixture
def serve(write):
    opened = []

    def start(manifest: str):
        folder = write({**NOTES, "workspace_mcp.yaml": manifest})
        session, _ = open_session(ServeOptions(str(folder), "none", None, "off", "warning"))
        session.start()
        assert session.wait_built(30)
        opened.append(session)
        return session

    yield start
    for session in opened:
        session.close()


def test_a_resource_that_is_too_long_names_the_tool_that_gives_parts_as_it_is_called_here(serve):
    session = serve(RENAMED)
    (session.root.path / "Huge.md").write_text("x" * (MOST_TEXT_BYTES + 1))

    async def talk():
        async with Client(make_server(session)) as client:
            with pytest.raises(MCPError) as error:
                await client.read_resource("vault://Huge.md")
            return error.value.message

    assert anyio.run(talk).endswith("of a resource; show gives parts.")


def test_renamed_tools_are_called_by_their_new_names_everywhere(serve, write):
    session = serve(RENAMED)
    tools = operations_of(session)
    said = [instructions_of(session), *(tool.description for tool in tools.values())]
    calls = [
        ("map", {}),
        ("ping", {}),
        ("anew", {}),
        ("advice", {}),
        ("advice", {"name": "querying"}),
        ("advice", {"name": "vault_authoring"}),
        ("show", {"file_path": "Long.md"}),
        ("show", {"file_path": ""}),
        ("show", {"file_path": "none"}),
        ("tree", {"path": "Home.md"}),
        ("grep", {"pattern": "x", "glob": "*.zz"}),
        ("pictures", {"items": ["pic.txt"]}),
        ("menu", {"recipe": "r"}),
    ]
    said += [dispatch(session, name, arguments).text for name, arguments in calls]
    assert "Call `map` once" in said[-9]
    write({".kglite/vault.yaml": "kglite_vault: 1\nbogus_key: 1\n"})
    assert dispatch(session, "anew", {}).is_error
    said.append(dispatch(session, "cook", {"recipe": "r", "query": "all"}).text)
    assert [text for text in said if OLD.search(text)] == []
    assert "ask answers from the last good graph" in said[-1]
    assert "more lines: show(file_path=" in dispatch(session, "show", {"file_path": "Long.md"}).text
    assert "tour — A tour. (for ask, grep)" in dispatch(session, "advice", {}).text


def test_what_notes_and_callers_wrote_is_not_changed(serve):
    session = serve(RENAMED)
    assert "cypher_query is what" in dispatch(session, "show", {"file_path": "Home.md"}).text
    assert "cypher_query is what" in dispatch(session, "grep", {"pattern": "what"}).text
    assert "no tool `cypher_query`" in dispatch(session, "cypher_query", {"query": "RETURN 1"}).text
    assert "RETURN cypher_query" in dispatch(session, "ask", {"query": "RETURN cypher_query"}).text


def test_a_hidden_tool_is_advised_nowhere(serve):
    session = serve("tools: [{bundled: list_source, hidden: true}, {bundled: graph_overview, hidden: true}]\n")
    answer = dispatch(session, "read_source", {"file_path": ""}).text
    assert answer == "parameter: `file_path` is empty. Pass a path such as Folder/Note.md, or the title of a note"
    assert "list_source" not in dispatch(session, "read_source", {"file_path": "none at all"}).text
    assert "list_source" not in dispatch(session, "grep", {"pattern": "x", "glob": "*.zz"}).text


def test_a_server_that_does_not_follow_edits_does_not_promise_to(serve):
    session = serve("tools: [{bundled: rebuild_graph, rename: anew}]\n")
    assert instructions_of(session).endswith("Edits are not followed. They show after anew.")
    hidden = serve("tools: [{bundled: rebuild_graph, hidden: true}]\n")
    assert instructions_of(hidden).endswith("Edits are not followed.")


def test_without_changes_words_stay_as_they_are(serve):
    session = serve("name: Harbour\n")
    words = "Ask graph_overview. Then cypher_query; or read_source."
    assert in_callers_words(session, words) == words
