"""build, check, status and query: what they print and how they exit."""

import csv
import io
import json

import pytest

NOTES = {
    "A.md": "---\nrating: 5\ntags: [x]\n---\n# Alpha\n[[B]] [[Gone]]\n",
    "B.md": "# Beta\n",
}
TITLES = "MATCH (n:Note) RETURN n.title AS title, n.rating AS rating ORDER BY title"


def test_build_writes_the_cache_and_reports(vaultgraph, write):
    folder = write(NOTES)
    done = vaultgraph("build", folder)
    assert done.code == 0
    assert "notes: 2\n" in done.out
    assert "dangling links: 1\n" in done.out
    assert (folder / ".kglite" / "graph.kgl").is_file()
    assert done.err == ""


def test_build_without_a_cache_writes_nothing(vaultgraph, write):
    folder = write(NOTES)
    assert vaultgraph("build", folder, "--vault-cache", "none").code == 0
    assert sorted(path.name for path in folder.rglob("*")) == ["A.md", "B.md"]


def test_build_exits_1_where_the_cache_cannot_be_written_and_says_what_to_do(vaultgraph, write, tmp_path):
    folder = write({**NOTES, ".kglite/graph.kgl": b"of another program"})
    done = vaultgraph("build", folder)
    assert done.code == 1
    assert "notes: 2\n" in done.out
    assert "Delete it or move it away" in done.err
    assert "--vault-cache PATH" in done.err
    assert (folder / ".kglite" / "graph.kgl").read_bytes() == b"of another program"
    (tmp_path / "file").write_text("")
    assert vaultgraph("build", folder, "--vault-cache", tmp_path / "file" / "graph.kgl").code == 1


def test_check_names_a_configuration_that_lies_too_deep(vaultgraph, write):
    folder = write({"A.md": "a", ".kglite/.kglite-example/vault.yaml": "kglite_vault: 1\n"})
    line = "  .kglite/.kglite-example/vault.yaml misplaced-configuration It is not read there: move it to"
    assert f"{line} .kglite/vault.yaml." in vaultgraph("check", folder).out
    write({".kglite/vault.yaml": "kglite_vault: 1\n"})
    assert "problems: none" in vaultgraph("check", folder).out


def test_a_missing_version_is_reported_where_it_belongs(vaultgraph, write):
    folder = write({"A.md": "a", ".kglite/vault.yaml": "# mine\n\ndefault_label: Page\nlabel_from: folder\n"})
    assert "vault.yaml:1: `kglite_vault` is missing" in vaultgraph("check", folder).err


def test_check_is_silent_about_a_good_vault_and_writes_nothing(vaultgraph, write):
    folder = write({"A.md": "[[B]]", "B.md": "b"})
    done = vaultgraph("check", folder)
    assert done.code == 0
    assert done.out.endswith("problems: none\n")
    assert not (folder / ".kglite").exists()


def test_check_names_path_line_and_code_and_exits_1_on_errors(vaultgraph, write):
    folder = write({"A.md": "ok", "bad/Broken.md": "---\ntags: [a\n---\nx"})
    done = vaultgraph("check", folder)
    assert done.code == 1
    assert "errors (1):\n  bad/Broken.md:" in done.out


def test_check_strict_exits_1_on_warnings_too(vaultgraph, write):
    folder = write(NOTES)
    plain, strict = vaultgraph("check", folder), vaultgraph("check", folder, "--strict")
    assert plain.code == 0
    assert strict.code == (1 if "warnings (" in strict.out else 0)


def test_check_json_gives_the_lists(vaultgraph, write):
    done = vaultgraph("check", write({"Broken.md": "---\ntags: [a\n---\nx"}), "--json")
    data = json.loads(done.out)
    assert done.code == 1
    assert data["notes"] == 1
    assert data["problem_counts"]["error"] == 1
    problem = data["problems"][0]
    assert problem["path"] == "Broken.md"
    assert problem["severity"] == "error"
    assert problem["line"] >= 2


def test_check_groups_many_problems_of_one_code(vaultgraph, write):
    folder = write({f"N{index:02}.md": "---\ntags: [a\n---\nx" for index in range(30)})
    done = vaultgraph("check", folder)
    assert " × 30, the first 5:\n" in done.out
    assert done.out.count("Broken") == 0
    assert sum(line.strip().startswith("N") for line in done.out.splitlines()) == 5


def test_status_says_whether_the_cache_is_used(vaultgraph, write):
    folder = write(NOTES)
    assert "built, no usable cache" in vaultgraph("status", folder).out
    assert not (folder / ".kglite").exists()
    vaultgraph("build", folder)
    done = vaultgraph("status", folder)
    assert done.code == 0
    assert "2 notes, 2 files" in done.out
    assert "read from the cache; 0 notes differ" in done.out


def test_query_prints_a_table_json_or_csv(vaultgraph, write):
    folder = write(NOTES)
    table = vaultgraph("query", folder, TITLES)
    assert table.code == 0
    assert [line.split() for line in table.out.splitlines() if line and "─" not in line] == [
        ["title", "rating"],
        ["Alpha", "5"],
        ["Beta", "null"],
        ["2", "rows"],
    ]
    as_json = vaultgraph("query", folder, TITLES, "--format", "json")
    assert json.loads(as_json.out) == [{"title": "Alpha", "rating": 5}, {"title": "Beta", "rating": None}]
    as_csv = vaultgraph("query", folder, TITLES, "--format", "csv")
    assert list(csv.reader(io.StringIO(as_csv.out))) == [["title", "rating"], ["Alpha", "5"], ["Beta", ""]]
    assert vaultgraph("query", folder, f"{TITLES} FORMAT CSV").out == as_csv.out


def test_query_takes_parameters_as_json_or_text(vaultgraph, write):
    folder = write(NOTES)
    done = vaultgraph(
        "query", folder, "RETURN $a + 1 AS a, $b AS b, $c[1] AS c", "--format", "json",
        "--param", "a=2", "--param", "b=plain text", "--param", "c=[1, 2]",
    )  # fmt: skip
    assert json.loads(done.out) == [{"a": 3, "b": "plain text", "c": 2}]
    assert vaultgraph("query", folder, "RETURN 1", "--param", "novalue").code == 2


def test_query_reads_a_kgl_file_without_its_notes(vaultgraph, write, tmp_path):
    folder = write(NOTES)
    cache = tmp_path / "elsewhere" / "saved.kgl"
    assert vaultgraph("build", folder, "--vault-cache", cache).code == 0
    assert not (folder / ".kglite").exists()
    done = vaultgraph("query", cache, TITLES, "--format", "json")
    assert json.loads(done.out)[0] == {"title": "Alpha", "rating": 5}


def test_a_wrong_query_shows_its_place_and_exits_1(vaultgraph, write):
    done = vaultgraph("query", write(NOTES), "MATCH (n) RETRUN n")
    assert done.code == 1
    assert "^" in done.err
    assert "RETURN" in done.err
    assert done.out == ""


def test_an_unknown_label_is_a_warning_on_stderr(vaultgraph, write):
    done = vaultgraph("query", write(NOTES), "MATCH (n:Nte) RETURN n", "--format", "json")
    assert (done.code, done.out) == (0, "[]\n")
    assert "warning: " in done.err
    assert "Note" in done.err


@pytest.mark.parametrize("command", ["build", "check", "status"])
def test_a_missing_folder_or_a_file_exits_1_with_one_line(vaultgraph, write, command):
    folder = write({"A.md": "a"})
    for path, reason in [(folder / "nope", "no such folder"), (folder / "A.md", "is a file")]:
        done = vaultgraph(command, path)
        assert done.code == 1
        assert done.err.startswith("vaultgraph: ")
        assert reason in done.err
        assert done.err.count("\n") == 1


def test_a_refused_configuration_exits_1_naming_file_and_key(vaultgraph, write):
    folder = write({"A.md": "a", ".kglite/vault.yaml": "kglite_vault: 1\nbogus: 1\n"})
    done = vaultgraph("check", folder)
    assert done.code == 1
    assert "vault.yaml" in done.err
    assert "bogus" in done.err
