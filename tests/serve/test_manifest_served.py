"""Servers with a manifest: its tools, what it renames, hides and allows, its words, and how it is found."""

import pytest

from vaultgraph.cli.opening import ServeOptions, open_session, read_env
from vaultgraph.errors import KglError, ProfileError, SettingsError
from vaultgraph.serve.dispatch import dispatch
from vaultgraph.serve.instructions import instructions_of
from vaultgraph.serve.surface import operations_of
from vaultgraph.vault.vault import open_vault

NOTES = {
    "Home.md": "---\naliases: [Start]\n---\n# Home\n\n[[Boats/Selkie]] #sea\n",
    "Boats/Selkie.md": "---\ntype: Boat\n---\n# Selkie\n\n#sea #sea/deep\n",
}
TOOLS = """tools:
- name: notes_by_tag
  description: Notes with a tag.
  parameters:
    type: object
    properties:
      tag: {type: string, minLength: 2}
      most: {type: integer, default: 5, maximum: 50}
      prefix: {type: string}
    required: [tag]
  cypher: >-
    MATCH (n)-[:TAGGED]->(t {id: $tag}) WHERE $prefix IS NULL OR n.path STARTS WITH $prefix
    RETURN n.path AS path ORDER BY path LIMIT $most
- {bundled: cypher_query, rename: ask, description: Ask the harbour.}
- {bundled: grep, hidden: true}
- {bundled: explore, hidden: true}
"""


class Served:
    """A session and calls on it."""

    def __init__(self, options: ServeOptions) -> None:
        self.session, self.remarks = open_session(options)
        self.session.start()
        assert self.session.wait_built(30)

    def names(self) -> list[str]:
        return list(operations_of(self.session))

    def text(self, name: str, **arguments) -> str:
        answer = dispatch(self.session, name, arguments)
        assert not answer.is_error, answer.text
        return answer.text

    def error(self, name: str, **arguments) -> str:
        answer = dispatch(self.session, name, arguments)
        assert answer.is_error, answer.text
        return answer.text


@pytest.fixture
def serve():
    """Serve with these options: `serve(vault=folder, mcp_config=file)`."""
    opened: list[Served] = []

    def start(**flags) -> Served:
        stated = {name: None if value is None else str(value) for name, value in flags.items()}
        stated.setdefault("vault", None)
        opened.append(Served(ServeOptions(cache="none", name=None, watch="off", log_level="warning", **stated)))
        return opened[-1]

    yield start
    for served in opened:
        served.session.close()


@pytest.fixture
def saved(write, tmp_path_factory):
    """A graph saved beside nothing else, and the folder it was made from."""
    folder = write(NOTES)
    path = tmp_path_factory.mktemp("graphs") / "boats.kgl"
    with open_vault(folder, path):
        pass
    return path, folder


def test_a_tool_with_a_query_answers_like_a_query(serve, write):
    served = serve(vault=write({**NOTES, "workspace_mcp.yaml": TOOLS}))
    assert served.text("notes_by_tag", tag="sea").split("\n")[:3] == ["path", "Boats/Selkie.md", "Home.md"]
    assert served.text("notes_by_tag", tag="sea", most=1).split("\n")[1:2] == ["Boats/Selkie.md"]
    assert served.text("notes_by_tag", tag="sea", prefix="H", _response={"mode": "full"}).split("\n")[1] == "Home.md"
    assert "mcp.yaml:16: there is no tool `explore` here to change" in served.remarks[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "`tag` is required: string"),
        ({"tag": None}, "`tag` is required"),
        ({"tag": 5}, "`tag` must be string"),
        ({"tag": "s"}, "`tag` must have at least 2 characters"),
        ({"tag": "sea", "most": 51}, "`most` must be at most 50"),
        ({"tag": "sea", "zz": 1}, "`zz` is none of: "),
        ({"tag": 5, "most": "x"}, "`most` must be integer"),
        ({"tag": "sea", "_response": {"mode": "huge"}}, "mode"),
    ],
)
def test_arguments_of_a_tool_with_a_query_are_held_against_its_schema(serve, write, arguments, words):
    served = serve(vault=write({**NOTES, "workspace_mcp.yaml": TOOLS}))
    message = served.error("notes_by_tag", **arguments)
    assert message.startswith("parameter: ")
    assert words in message


def test_tools_are_renamed_described_and_hidden(serve, write):
    served = serve(vault=write({**NOTES, "workspace_mcp.yaml": TOOLS}))
    names = served.names()
    assert names[:2] == ["graph_overview", "ask"]
    assert names[-2:] == ["notes_by_tag", "expand_response"]
    assert "grep" not in names
    assert operations_of(served.session)["ask"].description == "Ask the harbour."
    assert served.text("ask", query="RETURN 1 AS x").startswith("x\n1\n")
    assert served.error("grep", pattern="a").startswith("unknown_operation: There is no tool `grep`.")
    assert served.error("cypher_query", query="RETURN 1").startswith("unknown_operation: ")
    assert "grep" not in instructions_of(served.session)


def test_only_allowed_tools_are_there_and_unknown_names_do_no_harm(serve, write):
    text = "extensions: {tools_allow: [ping, ask, nowhere, notes_by_tag]}\n" + TOOLS
    served = serve(vault=write({**NOTES, "workspace_mcp.yaml": text}))
    assert served.names() == ["ask", "ping", "notes_by_tag", "expand_response"]
    assert served.error("read_source", file_path="Home.md").startswith("unknown_operation: ")


def test_an_empty_list_of_tools_leaves_what_answers_refer_to(serve, write):
    served = serve(vault=write({**NOTES, "workspace_mcp.yaml": "extensions: {tools_allow: []}"}))
    assert served.names() == ["expand_response"]


def test_a_manifest_with_a_name_alone_changes_no_tool(serve, write):
    without = serve(vault=write(NOTES)).names()
    assert serve(vault=write({**NOTES, "workspace_mcp.yaml": "name: Harbour"})).names() == without
    assert "skill" in without


def test_words_of_the_manifest_reach_callers(serve, write):
    text = "name: Harbour\ninstructions: Ask the harbour.\noverview_prefix: Boats first.\n"
    served = serve(vault=write({**NOTES, "workspace_mcp.yaml": text}))
    assert instructions_of(served.session) == "Ask the harbour."
    assert served.text("graph_overview").startswith("Boats first.\n\nHarbour · 2 notes")
    assert "Boats first" not in served.text("graph_overview", types=["Boat"])


def test_caps_of_images_are_the_manifests(serve, write, make_image):
    pictures = {f"{index}.png": make_image() for index in range(3)}
    text = "extensions: {fetch_images: {max_items: 2}}"
    served = serve(vault=write({**pictures, "workspace_mcp.yaml": text}))
    answer = dispatch(served.session, "fetch_images", {"items": ["0.png", "1.png", "2.png"]})
    assert answer.text.startswith("delivered 2, refused 1")
    assert "at most 2 images a call" in answer.text
    assert "at most 2 a call" in operations_of(served.session)["fetch_images"].description


def test_a_found_manifest_can_be_left_aside(serve, write):
    folder = write({**NOTES, "workspace_mcp.yaml": "nmae: Harbour"})
    with pytest.raises(ProfileError, match=r"Did you mean `name`.*--mcp-config none serves without workspace_mcp.yaml"):
        serve(vault=folder)
    assert serve(vault=folder, mcp_config="none").session.name == folder.name
    refusing = ServeOptions(str(folder), "none", None, "off", "warning", takes_guidance=False)
    session, remarks = open_session(refusing)
    assert session.name == folder.name
    assert "is not read, because of --no-vault-guidance" in remarks[0]
    session.root.close()


def test_the_name_is_the_flags_then_the_manifests_then_the_folders(write):
    folder = write({**NOTES, "workspace_mcp.yaml": "name: Harbour"})
    for flag, name in ((None, "Harbour"), ("Quay", "Quay")):
        session, _ = open_session(ServeOptions(str(folder), "none", flag, "off", "warning"))
        assert session.name == name
        session.root.close()


def test_variables_of_the_env_file_are_set_where_there_are_none(serve, write, monkeypatch):
    monkeypatch.setenv("HARBOUR_OLD", "kept")
    monkeypatch.setenv("HARBOUR_NEW", "gone soon")
    monkeypatch.delenv("HARBOUR_NEW")
    folder = write({**NOTES, "m.yaml": "env_file: e.txt", "e.txt": "HARBOUR_OLD=x\nexport HARBOUR_NEW = 'a b' # c\n"})
    serve(vault=folder, mcp_config=folder / "m.yaml")
    import os

    assert os.environ["HARBOUR_OLD"] == "kept"
    assert os.environ.pop("HARBOUR_NEW") == "a b"


def test_a_line_that_is_no_variable_is_refused_with_its_number(tmp_path):
    file = tmp_path / "e"
    file.write_text("# c\n\nA=1\nB C\n")
    with pytest.raises(SettingsError, match=r"e:4: must be KEY=VALUE"):
        read_env(file)
    file.write_text('A=1 # one\nB="x # y"\nC=\n')
    assert read_env(file) == {"A": "1", "B": "x # y", "C": ""}


def test_a_saved_graph_is_served_without_its_vault(serve, saved):
    path, _ = saved
    served = serve(graph=path)
    names = served.names()
    assert "reload_graph" in names
    assert "rebuild_graph" not in names
    assert served.text("graph_overview").startswith("boats · 2 notes, ")
    assert served.text("cypher_query", query="MATCH (b:Boat) RETURN b.title AS t").startswith("t\nSelkie\n1 row")
    assert "1 matching" not in served.text("list_source")
    assert served.text("list_source").startswith("./  (1 entry)\n")
    assert "fresh" in served.text("ping")


def test_a_vaults_cache_is_called_like_the_vault(serve, write):
    folder = write(NOTES)
    with open_vault(folder):
        pass
    assert serve(graph=folder / ".kglite/graph.kgl").session.name == folder.name


def test_file_tools_of_a_saved_graph_read_the_folder_that_is_named(serve, saved):
    path, folder = saved
    served = serve(graph=path, source_root=folder)
    assert "#sea" in served.text("read_source", file_path="Start")
    (path.parent / "boats_mcp.yaml").write_text(f"source_root: {folder}")
    with pytest.raises(ProfileError, match="leads out of the manifest's folder"):
        serve(graph=path)
    named = serve(graph=path, mcp_config=path.parent / "boats_mcp.yaml")
    assert "#sea" in named.text("read_source", file_path="Home")


def test_file_tools_of_a_saved_graph_read_several_folders_the_first_that_has_a_file_first(serve, saved, make_image):
    path = saved[0]
    for name, files in (
        ("one", {"Both.md": "of one", "x.png": make_image()}),
        ("two", {"Both.md": "of two", "Own.md": "only here", "y.png": make_image()}),
        ("three", {"deep/Third.md": "only here too"}),
    ):
        for file, content in files.items():
            (path.parent / name / file).parent.mkdir(parents=True, exist_ok=True)
            (path.parent / name / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    (path.parent / "boats_mcp.yaml").write_text("source_roots: [one, two, three]")
    served = serve(graph=path)
    assert served.remarks == ()
    assert served.text("read_source", file_path="Both.md").endswith("of one")
    assert served.text("read_source", file_path="own").endswith("only here")
    assert served.text("read_source", file_path="Third").endswith("only here too")
    assert "not in the vault" in served.error("read_source", file_path="Nowhere.md")
    assert "`..` is refused" in served.error("read_source", file_path="../two/Own.md")
    found = served.text("grep", pattern="of|only")
    assert found.count("\n== ") == 2
    assert all(
        line in found for line in ("== one\nBoth.md:1:of one", "Both.md:1:of two", "deep/Third.md:1:only here too")
    )
    tree = served.text("list_source")
    assert [line for line in tree.split("\n") if line.startswith("== ")] == ["== one", "== two", "== three"]
    assert served.text("list_source", path="deep").startswith("== three\ndeep/  (1 entry)")
    assert "not in the vault" in served.error("list_source", path="nowhere")
    answer = dispatch(served.session, "fetch_images", {"items": ["x.png", "y.png", "y.png", "z.png"]})
    assert answer.text.startswith("delivered 2, refused 1")


def test_a_changed_file_is_read_again(serve, saved, write):
    path, folder = saved
    served = serve(graph=path)
    (folder / "New.md").write_text("# New\n")
    with open_vault(folder, path):
        pass
    text = served.text("cypher_query", query="MATCH (n:Note) RETURN count(n) AS n")
    assert text.startswith("n\n3\n1 row · gen 2 · 2")


def test_a_failed_read_keeps_serving_and_says_so_until_the_file_is_right(serve, saved):
    path, _ = saved
    served = serve(graph=path)
    right = path.read_bytes()
    path.write_bytes(right[: len(right) // 2])
    text = served.text("cypher_query", query="MATCH (n:Note) RETURN count(n) AS n")
    assert text.startswith("n\n2\nstale since ")
    assert "boats.kgl" in text
    assert "stale since" in served.text("graph_overview")
    assert "stale since" in served.text("ping")
    assert served.error("reload_graph").startswith("kgl_corrupt: ")
    path.unlink()
    assert "stale since" in served.text("cypher_query", query="RETURN 1")
    path.write_bytes(right)
    assert "stale" not in served.text("cypher_query", query="RETURN 1")
    assert "fresh" in served.text("ping")


def test_reload_graph_reads_the_file_changed_or_not(serve, saved):
    served = serve(graph=saved[0])
    text = served.text("reload_graph")
    assert text.startswith("boats: 2 notes, ")
    assert "gen 2" in text


def test_a_graph_that_cannot_be_served_is_refused_at_the_start(serve, tmp_path):
    foreign = tmp_path / "x.kgl"
    foreign.write_bytes(b"something else")
    with pytest.raises(KglError):
        serve(graph=foreign)
    with pytest.raises(SettingsError, match="no such file"):
        serve(graph=tmp_path / "no.kgl")
    with pytest.raises(SettingsError, match="is a folder"):
        serve(graph=tmp_path)


def test_files_alone_are_served_without_a_graph(serve, write):
    served = serve(source_root=write(NOTES))
    assert served.names() == ["read_source", "grep", "list_source", "fetch_images", "ping", "expand_response"]
    assert "#sea" in served.text("read_source", file_path="home")
    assert "Only files are served" in served.text("ping")
    assert served.error("cypher_query", query="RETURN 1").startswith("unknown_operation: ")
    assert "without a graph" in instructions_of(served.session)
