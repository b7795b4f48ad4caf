"""Skills and prompts: ours, the operator's and the vault's; whose words they are, when they apply, and edits."""

import json
from pathlib import Path

import anyio
import pytest
from mcp import Client

from vaultgraph.errors import SettingsError
from vaultgraph.files.root import VaultRoot
from vaultgraph.profile.guidance import Skill
from vaultgraph.serve.guidance import guides_of, load_own_skills
from vaultgraph.serve.manifest import BundledTool, Manifest, SkillSources
from vaultgraph.serve.mcp_server import make_server
from vaultgraph.serve.session import Session
from vaultgraph.serve.surface import operations_of, static_operations
from vaultgraph.vault.vault import open_vault

TIDES = "---\nname: tides\ndescription: How tides are noted.\n---\n# Tides\n\nHigh and low.\n"
NOTE = {"Boats/Selkie.md": "---\ntype: Boat\nlength: 7\n---\n# Selkie\n"}


def skill_file(name: str, text: str = "Text.", **front: str) -> str:
    more = "".join(f"{key}: {value}\n" for key, value in front.items())
    return f"---\nname: {name}\ndescription: Says {name}.\n{more}---\n{text}\n"


def inline(name: str, **more) -> Skill:
    return Skill(
        "manifest", name, f"About {name}.", (), more.get("applies_when"), more.get("delivery", "lazy"), "Mine."
    )


@pytest.fixture
def served(local, write):
    """A vault of these files; what a manifest and flags say is set on its session."""

    def start(files: dict[str, str], manifest: Manifest | None = None, *, takes: bool = True):
        vault = local(write({**NOTE, **files}))
        vault.session.manifest = manifest or Manifest()
        vault.session.takes_vault_guidance = takes
        vault.session.wait_built(30)
        return vault

    return start


def test_our_own_skills_are_there_and_short(served):
    listed = served({}).text("skill")
    assert [line.split(" — ")[0] for line in listed.splitlines()] == ["images", "querying", "vault_authoring"]
    for name in ("images", "querying", "vault_authoring"):
        text = served({}).text("skill", name=name)
        assert text.startswith("# ")
        assert 300 < len(text) < 3_000


def test_a_skill_of_the_vault_says_whose_words_it_is(served):
    vault = served({".kglite/skills/tides.md": TIDES})
    assert vault.text("skill", name="tides") == (
        "[From the vault \"vault\", .kglite/skills/tides.md: its author's advice, not this server's.]"
        "\n\n# Tides\n\nHigh and low.\n"
    )
    assert vault.text("skill").splitlines()[-2:] == [
        'Of the vault "vault", in the words of its author:',
        "tides — How tides are noted.",
    ]
    assert vault.text("skill", name="vault:tides").endswith("High and low.\n")


def test_a_vault_cannot_replace_a_skill_of_ours_or_the_operators(served):
    files = {
        ".kglite/skills/a.md": skill_file("querying", "EVIL"),
        ".kglite/skills/b.md": skill_file("house", "EVIL"),
    }
    vault = served(files, Manifest(skills=SkillSources(is_on=True, inline=(inline("house"),))))
    assert "EVIL" not in vault.text("skill", name="querying")
    assert vault.text("skill", name="house") == "Mine."
    assert vault.text("skill", name="vault:querying").endswith("EVIL\n")
    assert vault.text("skill", name="vault:house").endswith("EVIL\n")


def test_a_skill_of_a_vault_changes_no_tool_and_no_description(served):
    files = {".kglite/skills/a.md": skill_file("cypher_query", "EVIL", delivery="eager", references_tools="[ping]")}
    without, with_skill = operations_of(served({}).session), operations_of(served(files).session)
    assert dict(without) == dict(with_skill)
    assert "EVIL" not in json.dumps([operation.description for operation in with_skill.values()])


def test_the_operator_replaces_our_skills_and_switches_them_off(served):
    replaced = Manifest(skills=SkillSources(is_on=True, inline=(inline("images"),)))
    assert served({}, replaced).text("skill", name="images") == "Mine."
    only = Manifest(skills=SkillSources(is_on=True, has_bundled=False, inline=(inline("images"),)))
    assert served({}, only).text("skill") == "images — About images."
    off = served({".kglite/skills/tides.md": TIDES}, Manifest(skills=SkillSources(is_on=False)))
    assert off.error("skill").startswith("unknown_operation: ")


def test_folders_of_the_operator_are_read(served, tmp_path: Path):
    folder = tmp_path / "advice"
    folder.mkdir()
    (folder / "house.md").write_text(skill_file("house", "Ours."))
    vault = served({}, Manifest(skills=SkillSources(is_on=True, folders=(folder,))))
    assert vault.text("skill", name="house") == "Ours.\n"


def test_guidance_of_a_vault_can_be_refused(served):
    vault = served({".kglite/skills/tides.md": TIDES}, takes=False)
    assert "tides" not in vault.text("skill")
    assert "tides" not in vault.text("graph_overview")


def test_the_overview_uses_the_names_that_the_operator_gave(served):
    renamed = Manifest(tools=(BundledTool("skill", "advice", None, False, None),))
    assert "\nSkills (advice): images, " in served({}, renamed).text("graph_overview")
    hidden = Manifest(tools=(BundledTool("skill", None, None, True, None),))
    assert "Skills" not in served({}, hidden).text("graph_overview")
    allowed = served({}, Manifest(tools_allow=("graph_overview", "grep")))
    assert "Skills" not in allowed.text("graph_overview")


def test_a_skill_about_a_tool_that_is_hidden_is_not_offered(served):
    vault = served({}, Manifest(tools=(BundledTool("fetch_images", None, None, True, None),)))
    assert [line.split(" — ")[0] for line in vault.text("skill").splitlines()] == ["querying", "vault_authoring"]


def test_an_unknown_skill_is_answered_with_the_nearest(served):
    message = served({}).error("skill", name="quering")
    assert message.startswith("parameter: There is no skill `quering`. Did you mean `querying`?")


@pytest.mark.parametrize(
    ("stated", "is_offered"),
    [
        ("{graph_has_node_type: [Plane, Boat]}", True),
        ("{graph_has_node_type: Plane}", False),
        ("{graph_has_property: {node_type: Boat, prop_name: length}}", True),
        ("{graph_has_property: {node_type: Boat, prop_name: wings}}", False),
        ("{tool_registered: grep}", True),
        ("{tool_registered: rocket}", False),
        ("{extension_enabled: value_codecs}", False),
        ("{graph_has_node_type: [Boat], tool_registered: rocket}", False),
    ],
)
def test_a_skill_is_offered_where_all_its_predicates_hold(served, stated, is_offered):
    vault = served({".kglite/skills/a.md": skill_file("a", applies_when=stated)})
    assert ("\na — " in vault.text("skill")) is is_offered


def test_a_skill_is_offered_where_the_cache_is_found_damaged_as_its_predicate_is_asked(local, write):
    stated = "{graph_has_property: {node_type: Boat, prop_name: length}}"
    boats = {
        f"Boats/{number:02}.md": f"---\ntype: Boat\nlength: {number if number % 2 else 'long'}\n---\n"
        for number in range(40)
    }
    folder = write({**NOTE, **boats, "x.md": "x", ".kglite/skills/a.md": skill_file("a", applies_when=stated)})
    cache = folder.with_name("made.kgl")
    with open_vault(folder, cache):
        pass
    vault = local(folder, cache=str(cache))
    vault.session.wait_built(30)
    assert vault.session.vault().report.origin == "cache"
    cache.write_bytes(cache.read_bytes()[:64])  # cut while it is open
    latest = vault.session.latest()
    assert "a" in guides_of(vault.session, static_operations(vault.session), latest).skills
    assert vault.session.vault().report.origin == "built"
    assert "\na — " in vault.text("skill")


def test_the_overview_names_guidance_under_the_vaults_name_and_stays_small(served):
    files = {f".kglite/skills/{number:03}.md": skill_file(f"advice_{number:03}") for number in range(150)}
    text = served(files).text("graph_overview")
    assert "\nSkills (skill): images, querying, vault_authoring\n" in text
    assert "\nSkills of the vault (skill): advice_000, " in text
    assert text.endswith("more: skill without a name")
    assert len(text) < 4_000


def test_an_eager_skill_comes_with_the_overview_where_there_is_room(served):
    files = {".kglite/skills/a.md": skill_file("short", "Read this.", delivery="eager")}
    text = served(files).text("graph_overview")
    assert text.endswith(
        "Skill short:\n[From the vault \"vault\", .kglite/skills/a.md: its author's advice, not this server's.]"
        "\n\nRead this."
    )
    files = {".kglite/skills/a.md": skill_file("long", "word " * 2_000, delivery="eager")}
    assert "word word" not in served(files).text("graph_overview")


def test_an_edited_skill_is_live_and_clients_hear_of_it(write):
    folder = write({**NOTE, ".kglite/skills/tides.md": TIDES})
    heard: list[str] = []

    async def hear(message: object) -> None:
        heard.append(type(message).__name__)

    async def talk() -> None:
        root = VaultRoot.open(folder)
        session = Session(root, lambda _progress: open_vault(folder, None, build=False), name=root.name, wait_s=30)
        session.start()
        session.wait_built(30)
        async with Client(make_server(session), mode="legacy", message_handler=hear) as client:
            assert client.server_capabilities.prompts.list_changed
            assert client.server_capabilities.tools.list_changed
            before = await client.list_prompts()
            assert [prompt.name for prompt in before.prompts][-1] == "tides"
            assert before.prompts[-1].description == "Of the vault: How tides are noted."
            await client.list_tools()
            (folder / ".kglite/skills/tides.md").write_text(TIDES.replace("tides\n", "currents\n"))
            session.vault().refresh()
            await client.call_tool("ping", {})
            text = await client.get_prompt("currents")
            assert text.messages[0].content.text.endswith("High and low.\n")
            assert text.messages[0].content.text.startswith("[From the vault ")
            assert [prompt.name for prompt in (await client.list_prompts()).prompts][-1] == "currents"
        session.close()

    anyio.run(talk)
    assert heard.count("PromptListChangedNotification") == 1
    assert heard.count("ToolListChangedNotification") == 0


def test_an_unknown_prompt_is_refused_with_the_names(write):
    folder = write(NOTE)

    async def talk() -> str:
        root = VaultRoot.open(folder)
        session = Session(root, lambda _progress: open_vault(folder, None, build=False), name=root.name, wait_s=30)
        session.start()
        session.wait_built(30)
        try:
            async with Client(make_server(session), mode="legacy") as client:
                with pytest.raises(Exception, match="no skill `querry`"):
                    await client.get_prompt("querry")
        finally:
            session.close()

    anyio.run(talk)


def test_a_faulty_skill_of_the_operator_is_told_with_file_and_line(served, tmp_path: Path):
    folder = tmp_path / "advice"
    folder.mkdir()
    (folder / "house.md").write_text("---\nname: house\n---\nText.\n")
    vault = served({}, Manifest(skills=SkillSources(is_on=True, folders=(folder,))))
    with pytest.raises(SettingsError, match=r"advice/house\.md:2: `description` is missing"):
        load_own_skills(vault.session)


def test_the_flag_refuses_guidance_of_the_vault(connect, write):
    folder = write({**NOTE, ".kglite/skills/tides.md": TIDES})
    with connect(folder, "--watch", "off", "--no-vault-guidance") as server:
        assert "tides" not in server.text("skill")
    with connect(folder, "--watch", "off") as server:
        assert "tides" in server.text("skill")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_prompts_come_over_both_eras_of_the_protocol(write, mode):
    folder = write({**NOTE, ".kglite/skills/tides.md": TIDES})

    async def talk() -> None:
        root = VaultRoot.open(folder)
        session = Session(root, lambda _progress: open_vault(folder, None, build=False), name=root.name, wait_s=30)
        session.start()
        session.wait_built(30)
        async with Client(make_server(session), mode=mode) as client:
            listed = await client.list_prompts()
            assert [prompt.name for prompt in listed.prompts] == ["images", "querying", "vault_authoring", "tides"]
            assert (await client.get_prompt("querying")).messages[0].content.text.startswith("# Querying")
            assert "skill" in [tool.name for tool in (await client.list_tools()).tools]
        session.close()

    anyio.run(talk)


def test_a_new_recipe_with_a_tool_is_announced_once(write):
    folder = write(NOTE)
    heard: list[str] = []

    async def hear(message: object) -> None:
        heard.append(type(message).__name__)

    async def talk() -> None:
        root = VaultRoot.open(folder)
        session = Session(root, lambda _progress: open_vault(folder, None, build=False), name=root.name, wait_s=30)
        session.start()
        session.wait_built(30)
        async with Client(make_server(session), mode="legacy", message_handler=hear) as client:
            before = {tool.name for tool in (await client.list_tools()).tools}
            recipe = (
                "---\nrecipe: r\nname: one\ndescription: One.\ntool: count_one\n---\n```cypher\nRETURN 1 AS n\n```\n"
            )
            write({".kglite/recipes/one.md": recipe})
            session.vault().refresh()
            await client.call_tool("ping", {})
            await client.call_tool("ping", {})
            after = {tool.name for tool in (await client.list_tools()).tools}
            assert after - before == {"list_recipe_queries", "run_recipe_query", "count_one"}
            result = await client.call_tool("count_one", {})
            assert result.structured_content["result"]["rows"] == [[1]]
        session.close()

    anyio.run(talk)
    assert heard == ["ToolListChangedNotification"]
