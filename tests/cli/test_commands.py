"""build, check, status and query: what they print and how they exit."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from vaultgraph import __version__
from vaultgraph.cli.tables import print_rows

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


def test_check_names_a_configuration_with_another_ending(vaultgraph, write):
    folder = write({"A.md": "a", ".kglite/vault.yml": "kglite_vault: 1\n"})
    line = "  .kglite/vault.yml misplaced-configuration It is not read there: move it to .kglite/vault.yaml."
    assert line in vaultgraph("check", folder).out


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
    size = f"{(folder / '.kglite/graph.kgl').stat().st_size:,} bytes, vaultgraph {__version__}"
    assert f"{Path('.kglite/graph.kgl')}, {size}; 2 of 2 notes as on disk\n" in done.out
    assert re.search(r"^last refresh: \S+Z, [\d.,]+ ms \(stat [\d.]+, read ", done.out, re.MULTILINE)
    write({"A.md": "other", "New.md": "x"})
    assert "1 of 2 notes as on disk" in vaultgraph("status", folder).out
    assert "cache: none" in vaultgraph("status", folder, "--vault-cache", "none").out


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


def test_a_parameter_that_the_query_does_not_use_is_a_warning(vaultgraph, write):
    folder = write(NOTES)
    done = vaultgraph("query", folder, "RETURN $name AS n // $nme", "--param", "name=a", "--param", "nme=b")
    assert done.code == 0
    assert done.err == "warning: --param nme: the query does not use $nme; its parameters are: $name\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_cells_it_can_show_and_is_told_where_the_rest_is(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    rows = [("short", "x" * 5000), ("b", None)]
    terminal, file = Terminal(), io.StringIO()
    print_rows(("a", "body"), rows, "table", terminal)
    assert "(5,000" in terminal.getvalue()
    assert terminal.getvalue().endswith("\n2 rows; long cells were cut: --format json has them whole\n")
    assert terminal.getvalue().count("\n") < 12
    print_rows(("a", "body"), [("short", "x" * 500)], "table", file)
    assert "x" * 500 in file.getvalue()
    assert file.getvalue().endswith("\n1 row\n")


def test_the_report_explains_what_is_read_beside_notes_and_says_the_same_line_once(vaultgraph, write):
    skipped = {"Skipped.md": "---\nkg_skip: true\n---\n", "C.canvas": "{}", "D.canvas": "{}"}
    folder = write({"A.md": "[[Gone]] [[Gone]]\n[[Gone]]", **skipped})
    out = vaultgraph("check", folder).out
    assert "\nnotes: 1 (beside them 1 skipped by kg_skip, 2 canvases)\n" in out
    assert "4 files parsed" in out
    assert "problems: 3 infos\n" in out
    lines = [line for line in out.splitlines() if "unresolved-link" in line]
    assert [line.endswith(" ×2") for line in lines] == [True, False]


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


@pytest.mark.parametrize("command", ["query", "check", "status", "export"])
def test_a_saved_graph_that_is_not_there_is_no_file_and_not_a_folder(vaultgraph, folder, command):
    others = {"query": ["RETURN 1"], "export": [folder / "out", "--to", "vault"]}.get(command, [])
    done = vaultgraph(command, folder / "gone.kgl", *others)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "gone.kgl: no such file." in done.err
    assert "vaultgraph build DIR" in done.err


@pytest.mark.parametrize("command", ["query", "check", "status", "export"])
def test_a_saved_graph_that_cannot_be_looked_at_is_said_in_one_line(vaultgraph, folder, command):
    others = {"query": ["RETURN 1"], "export": [folder / "out", "--to", "vault"]}.get(command, [])
    done = vaultgraph(command, folder / f"{'g' * 300}.kgl", *others)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "cannot be looked at" in done.err


def test_a_folder_may_be_called_like_a_saved_graph(vaultgraph, folder):
    vault = folder / "notes.kgl"
    vault.mkdir()
    vault.joinpath("A.md").write_text("a")
    assert vaultgraph("query", vault, "MATCH (n:Note) RETURN n.path", "--format", "csv").out == "n.path\r\nA.md\r\n"


def test_a_refused_configuration_exits_1_naming_file_and_key(vaultgraph, write):
    folder = write({"A.md": "a", ".kglite/vault.yaml": "kglite_vault: 1\nbogus: 1\n"})
    done = vaultgraph("check", folder)
    assert done.code == 1
    assert "vault.yaml" in done.err
    assert "bogus" in done.err
