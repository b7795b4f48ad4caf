"""Queries made to be misread: each is planned or refused with a QueryError in the query, within its time."""

import importlib.util
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def fuzz():
    """The module of the benchmark."""
    spec = importlib.util.spec_from_file_location("parser_fuzz", REPOSITORY / "benchmarks" / "parser_fuzz.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize("seed", [1, 2])
def test_changed_queries_and_soups_of_tokens_are_planned_or_refused(fuzz, seed):
    known = fuzz.queries(REPOSITORY / "none", REPOSITORY / "tests" / "cases" / "queries")
    checker = fuzz.Checker(fuzz.small_graph())
    wrong = {text: found for text in fuzz.inputs(known, 1000, seed) if (found := checker.check(text))}
    assert wrong == {}
    assert checker.outcomes["planned"] > 30
    assert checker.outcomes["syntax"] > 100


def test_changed_queries_run_or_are_refused(fuzz):
    known = fuzz.queries(REPOSITORY / "none", REPOSITORY / "tests" / "cases" / "queries")
    checker = fuzz.Checker(fuzz.small_graph(), runs=True)
    wrong = {text: found for text in fuzz.inputs(known, 500, 3) if (found := checker.check(text))}
    assert wrong == {}


def test_inputs_are_the_same_for_a_seed(fuzz):
    known = ["RETURN 1 AS x"]
    assert list(fuzz.inputs(known, 50, 7)) == list(fuzz.inputs(known, 50, 7))
    assert list(fuzz.inputs(known, 50, 7)) != list(fuzz.inputs(known, 50, 8))


def test_an_error_that_is_none_of_a_query_is_reported(fuzz):
    class Broken(fuzz.Checker):
        def _plan(self, text):
            raise KeyError(text)

    assert Broken(fuzz.small_graph()).check("RETURN 1") == "KeyError: 'RETURN 1'"
