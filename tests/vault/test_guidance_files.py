"""Skills and recipes that a vault carries: read with every refresh, bounded, and never in the way of the graph."""

import os

import pytest

from vaultgraph.vault.guidance_files import MOST_BYTES, MOST_FILES
from vaultgraph.vault.vault import open_vault

SKILL = "---\nname: tour\ndescription: Where to start.\n---\nRead Home first.\n"
RECIPE = (
    "---\nrecipe: mine\nname: linked\ndescription: Linked notes.\n---\n"
    "```cypher\nMATCH (n:Note)-[:LINKS_TO]->(m) RETURN m.path AS path\n```\n"
)


@pytest.fixture
def opened(write):
    """Open the vault with these files beside one note."""
    vaults = []

    def start(files):
        vaults.append(open_vault(write({"Home.md": "# Home", **files}), None))
        return vaults[-1]

    yield start
    for vault in vaults:
        vault.close()


def test_a_vault_without_guidance_has_none(opened):
    vault = opened({})
    assert vault.current().guidance is None
    assert (vault.report.skills, vault.report.recipes) == ((), ())


def test_skills_and_recipes_are_named_in_the_report_and_are_no_notes(opened):
    vault = opened({".kglite/skills/tour.md": SKILL, ".kglite/recipes/linked.md": RECIPE})
    report = vault.report
    assert (report.notes, report.skills, report.recipes) == (1, ("tour",), ("linked",))
    assert report.problems.is_empty()


def test_a_bad_file_is_a_problem_and_its_siblings_load(opened):
    vault = opened(
        {
            ".kglite/skills/tour.md": SKILL,
            ".kglite/skills/odd.md": "no frontmatter",
            ".kglite/recipes/odd.md": RECIPE.replace("MATCH", "CREATE"),
        }
    )
    rows = vault.query(
        "CALL vault.problems() YIELD path, code, severity RETURN path, code, severity ORDER BY path"
    ).rows
    assert rows == [
        (".kglite/recipes/odd.md", "bad-recipe", "warning"),
        (".kglite/skills/odd.md", "bad-skill", "warning"),
    ]
    assert vault.report.skills == ("tour",)


def test_an_edit_of_a_skill_is_there_after_the_next_refresh_and_an_equal_file_changes_nothing(opened, write):
    vault = opened({".kglite/skills/tour.md": SKILL})
    first = vault.current()
    vault.refresh()
    assert vault.current().generation == first.generation
    write({".kglite/skills/tour.md": SKILL.replace("Home first", "Log first")})
    vault.refresh()
    second = vault.current()
    assert second.generation == first.generation + 1
    assert second.graph.node_count == first.graph.node_count
    assert "Log first" in second.guidance.skills[0].text
    (vault.root.path / ".kglite" / "skills" / "tour.md").unlink()
    vault.refresh()
    assert vault.current().guidance is None


def test_a_skill_written_while_the_vault_is_followed_is_there_for_the_next_call(write):
    folder = write({"Home.md": "# Home"})
    with open_vault(folder, None, watch="auto") as vault:
        assert vault.current().guidance is None
        write({".kglite/skills/tour.md": SKILL})
        assert [skill.name for skill in vault.current().guidance.skills] == ["tour"]


def test_a_problem_goes_when_its_file_is_mended(opened, write):
    vault = opened({".kglite/skills/tour.md": "broken"})
    assert vault.report.problems["code"].to_list() == ["bad-skill"]
    write({".kglite/skills/tour.md": SKILL})
    assert vault.refresh().problems.is_empty()


def test_a_problem_follows_its_fault_to_another_file(opened, write):
    vault = opened({".kglite/skills/a.md": "broken", ".kglite/skills/b.md": SKILL})
    assert vault.report.problems["path"].to_list() == [".kglite/skills/a.md"]
    write({".kglite/skills/a.md": SKILL, ".kglite/skills/b.md": "broken"})
    assert vault.refresh().problems["path"].to_list() == [".kglite/skills/b.md"]


def test_other_files_folders_and_hidden_ones_are_passed_over(opened):
    vault = opened(
        {
            ".kglite/skills/notes.txt": "x",
            ".kglite/skills/.hidden.md": "x",
            ".kglite/skills/deep/tour.md": SKILL,
            ".kglite/recipes": "a file in the place of the folder",
        }
    )
    assert vault.current().guidance is None
    assert vault.report.problems.is_empty()


def test_large_and_many_files_are_limited_by_a_problem(opened):
    files = {f".kglite/skills/s{number:03}.md": SKILL.replace("tour", f"s{number}") for number in range(MOST_FILES + 5)}
    vault = opened({**files, ".kglite/recipes/big.md": "x" * (MOST_BYTES + 1)})
    assert len(vault.report.skills) == MOST_FILES
    rows = vault.query("CALL vault.problems() YIELD path, code, message RETURN path, code, message ORDER BY path").rows
    assert [row[:2] for row in rows] == [(".kglite/recipes/big.md", "bad-recipe"), (".kglite/skills", "bad-skill")]
    assert "over the cap" in rows[0][2]
    assert f"Of {MOST_FILES + 5} files" in rows[1][2]


def test_a_link_out_of_the_vault_and_a_pipe_are_not_read(opened, write, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text(SKILL)
    folder = write({".kglite/skills/ok.md": SKILL})
    (folder / ".kglite" / "skills" / "out.md").symlink_to(outside)
    os.mkfifo(folder / ".kglite" / "skills" / "pipe.md")
    vault = opened({})
    assert vault.report.skills == ("tour",)
    assert set(vault.report.problems.select("path", "code").iter_rows()) == {
        (".kglite/skills/out.md", "symlink-outside"),
        (".kglite/skills/pipe.md", "bad-skill"),
    }


def test_a_cache_does_not_keep_guidance(write, tmp_path):
    folder = write({"Home.md": "# Home", ".kglite/skills/tour.md": SKILL})
    with open_vault(folder, tmp_path / "c.kgl") as vault:
        assert vault.report.skills == ("tour",)
    (folder / ".kglite" / "skills" / "tour.md").unlink()
    with open_vault(folder, tmp_path / "c.kgl") as vault:
        assert vault.report.origin == "cache"
        assert vault.report.skills == ()


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (n:Note) WHERE n.title STARTS WITH $start RETURN n.path AS path SKIP $first LIMIT $most",
        "FOR VALID_TIME ALL MATCH (n:Note) WHERE n.title IN [$start] RETURN n.path AS path SKIP $first LIMIT $most",
    ],
)
def test_a_recipe_may_limit_its_rows_by_a_parameter_and_state_a_time(opened, query):
    schema = (
        "parameters:\n  type: object\n  required: [start, first, most]\n  additionalProperties: false\n"
        "  properties: {start: {type: string}, first: {type: integer}, most: {type: integer}}\n"
    )
    text = f"---\nrecipe: mine\nname: some\ndescription: Some.\n{schema}---\n```cypher\n{query}\n```\n"
    report = opened({".kglite/recipes/some.md": text}).report
    assert report.recipes == ("some",)
    assert report.problems.is_empty()
