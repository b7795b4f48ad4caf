"""Answers as of a day: by argument, by prefix, by the operator's default; and what the answer says of it."""

import re
from datetime import date

import pytest

from vaultgraph.errors import ParameterError, QuerySyntaxError
from vaultgraph.serve.manifest import Manifest
from vaultgraph.vault.valid_time import day_of, split_prefix

JOBS = "MATCH (j:Job) RETURN j.title AS job ORDER BY job"
VAULT = {
    ".kglite/vaultgraph.yaml": "valid_time: {labels: [Job]}\n",
    "Baker.md": "---\ntype: Job\nvalid_from: 2001-01-01\nvalid_to: 2009-12-31\n---\n",
    "Sailor.md": "---\ntype: Job\nvalid_from: 2010-01-01\nvalid_to: 9000-12-31\n---\nAfter [[Baker]].\n",
    "Dream.md": "---\ntype: Job\nvalid_from: 9000-01-01\n---\n",
}


@pytest.fixture
def served(local, write):
    def start(files: dict[str, str] = VAULT, manifest: Manifest | None = None):
        vault = local(write(files))
        vault.session.manifest = manifest or Manifest()
        vault.session.wait_built(30)
        return vault

    return start


def lines(text: str) -> list[str]:
    return text.split("\n")[1:]


def test_the_default_is_today_and_the_answer_says_the_day(served):
    found = lines(served().text("cypher_query", query=JOBS))
    assert found[0] == "Sailor"
    assert re.fullmatch(rf"1 row · gen 1 · 2\S+Z · valid time {date.today().isoformat()}", found[1])


@pytest.mark.parametrize(
    ("asked", "jobs"),
    [
        ("2005-06-01", ["Baker"]),
        ("2010-01-01", ["Sailor"]),
        ("9500-01-01", ["Dream"]),
        ("1999-01-01", []),
        ("all", ["Baker", "Dream", "Sailor"]),
        ("ALL", ["Baker", "Dream", "Sailor"]),
        ("today", ["Sailor"]),
    ],
)
def test_a_day_is_asked_for_by_argument(served, asked, jobs):
    found = lines(served().text("cypher_query", query=JOBS, valid_at=asked))
    assert found[: len(jobs)] == jobs
    said = {"today": date.today().isoformat(), "ALL": "all"}.get(asked, asked)
    assert found[len(jobs)].endswith(f" · valid time {said}")


@pytest.mark.parametrize(
    "prefix",
    [
        "FOR VALID_TIME AS OF '2005-06-01' ",
        'for valid_time as of "2005-06-01"\n',
        "FOR VALID_TIME AS OF date('2005-06-01') ",
        "\n FOR  VALID_TIME\tAS OF date( '2005-06-01' ) ",
    ],
)
def test_a_day_is_asked_for_by_prefix(served, prefix):
    found = lines(served().text("cypher_query", query=prefix + JOBS))
    assert found[0] == "Baker"
    assert found[1].endswith(" · valid time 2005-06-01")


def test_all_is_asked_for_by_prefix(served):
    assert "valid time all" in served().text("cypher_query", query=f"FOR VALID_TIME ALL {JOBS}")


def test_the_operator_sets_the_default(served):
    assert lines(served(manifest=Manifest(valid_time="2005-06-01")).text("cypher_query", query=JOBS))[0] == "Baker"
    assert "valid time all" in served(manifest=Manifest(valid_time="all")).text("cypher_query", query=JOBS)


def test_relationships_of_what_does_not_hold_are_gone_too(served):
    query = "MATCH (:Job {title: 'Sailor'})-[:LINKS_TO]->(j) RETURN j.title AS job"
    vault = served()
    assert lines(vault.text("cypher_query", query=query, valid_at="2010-06-01"))[0].startswith("0 rows · ")
    assert lines(vault.text("cypher_query", query=query, valid_at="all"))[0] == "Baker"


def test_structure_says_the_day_too(served):
    answer = served().call("cypher_query", query=JOBS, valid_at="2005-06-01", format="json")
    assert answer.structured["rows"] == [["Baker"]]
    assert answer.structured["valid_at"] == "2005-06-01"


@pytest.mark.parametrize("asked", ["soon", "2005-13-01", "", "2005"])
def test_what_is_no_day_is_refused(served, asked):
    assert "must be a date such as 2026-01-31, today or all" in served().error(
        "cypher_query", query=JOBS, valid_at=asked or " "
    )


def test_an_argument_and_a_prefix_that_differ_are_refused(served):
    message = served().error("cypher_query", query=f"FOR VALID_TIME ALL {JOBS}", valid_at="2005-01-01")
    assert "leave one of them out" in message


def test_a_prefix_that_is_not_complete_is_a_syntax_error(served):
    message = served().error("cypher_query", query=f"FOR VALID_TIME AS OF banana {JOBS}")
    assert message.startswith("syntax: After FOR VALID_TIME comes ALL, or AS OF and a date in quotes")


def test_places_in_errors_count_the_prefix(served):
    query = "FOR VALID_TIME ALL MATCH (j:Job) RETRUN j"
    assert f"column {query.index('RETRUN') + 1}" in served().error("cypher_query", query=query)


def test_without_a_declaration_nothing_is_said_and_a_day_is_refused(served):
    vault = served({"A.md": "---\ntype: Job\n---\n"})
    assert "valid time" not in vault.text("cypher_query", query=JOBS)
    assert lines(vault.text("cypher_query", query=JOBS, valid_at="all"))[0] == "A"
    assert "`valid_time:` in .kglite/vaultgraph.yaml" in vault.error("cypher_query", query=JOBS, valid_at="2005-01-01")
    assert "Valid time" not in vault.text("graph_overview")


def test_ends_that_are_no_dates_are_a_warning(served):
    vault = served({**VAULT, "Odd.md": "---\ntype: Job\nvalid_from: soon\n---\n"})
    text = vault.text("cypher_query", query=JOBS, valid_at="1999-01-01")
    assert lines(text)[0] == "Odd"
    assert "warning: 1 ends of validity are no dates and count as open" in text


def test_an_edit_is_in_the_answer_as_of_a_day(served, write):
    vault = served()
    assert lines(vault.text("cypher_query", query=JOBS, valid_at="2005-06-01"))[0] == "Baker"
    write({"Miller.md": "---\ntype: Job\nvalid_from: 2004-01-01\n---\n"})
    vault.session.vault().refresh()
    assert lines(vault.text("cypher_query", query=JOBS, valid_at="2005-06-01"))[:2] == ["Baker", "Miller"]


def test_a_recipe_answers_as_of_a_day(served):
    recipe = "---\nrecipe: r\nname: jobs\ndescription: Jobs.\ntool: jobs\n---\n```cypher\n" + JOBS + "\n```\n"
    vault = served({**VAULT, ".kglite/recipes/jobs.md": recipe})
    own = vault.call("jobs", valid_at="2005-06-01")
    assert own.structured == vault.call("run_recipe_query", recipe="r", query="jobs", valid_at="2005-06-01").structured
    assert vault.call("jobs", valid_at=5).structured["code"] == "invalid_request"
    answer = vault.call("run_recipe_query", recipe="r", query="jobs", valid_at="2005-06-01").structured
    assert answer["result"]["rows"] == [["Baker"]]
    assert answer["valid_at"] == "2005-06-01"
    fault = vault.call("run_recipe_query", recipe="r", query="jobs", valid_at="soon")
    assert fault.structured["code"] == "invalid_request"


def test_the_overview_says_what_is_answered_as_of_a_day(served):
    text = served().text("graph_overview")
    assert "\nValid time: Job are answered as of a day (valid_at); counts here are of all times\n" in text


def test_days_and_prefixes_are_read():
    assert day_of("today", date(2020, 1, 2)) == date(2020, 1, 2)
    assert day_of("All", date(2020, 1, 2)) is None
    with pytest.raises(ParameterError):
        day_of("x", date(2020, 1, 2))
    assert split_prefix("MATCH (n) RETURN n") == ("MATCH (n) RETURN n", None)
    assert split_prefix("EXPLAIN FOR VALID_TIME ALL RETURN 1") == ("EXPLAIN                    RETURN 1", "all")
    with pytest.raises(QuerySyntaxError):
        split_prefix("FOR VALID_TIME")
