"""Asking a query of an empty graph, for tests of expressions."""

from collections.abc import Callable
from typing import Any

import pytest

from vaultgraph.cypher.query import run_query
from vaultgraph.graph.graph import Graph


@pytest.fixture
def ask() -> Callable[..., Any]:
    """The value of an expression, given parameters by name."""

    def run(expression: str, **parameters: object) -> Any:
        [[value]] = run_query(Graph(0, (), {}, {}), f"RETURN {expression}", parameters).rows
        return value

    return run


@pytest.fixture
def ask_rows() -> Callable[..., list[tuple[Any, ...]]]:
    """The rows of a whole query, given parameters by name."""

    def run(query: str, **parameters: object) -> list[tuple[Any, ...]]:
        return run_query(Graph(0, (), {}, {}), query, parameters).rows

    return run
