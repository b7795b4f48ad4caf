"""docs/fidelity.md names cases that exist."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "cases"
ROW = re.compile(r"^\| (?!written \||---)(?P<written>.+?) \| (?P<answered>.+?) \| (?P<case>[^|]+?) \|$", re.MULTILINE)
TITLE = re.compile(r"^([^\n]+)\n\.\n.*?^\.\n.*?^\.$", re.MULTILINE | re.DOTALL)


def referenced():
    text = (ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| written")]
    cases = [found["case"] for found in ROW.finditer(text)]
    assert len(cases) == len(lines) > 80
    return cases


def test_every_case_of_the_table_exists():
    missing = []
    for case in referenced():
        file, _, title = case.partition(": ")
        if file.endswith(".py"):
            tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
            names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        else:
            names = set(TITLE.findall((CASES / f"{file}.md").read_text(encoding="utf-8")))
        if title not in names:
            missing.append(case)
    assert missing == []


def test_every_rule_is_stated_once():
    rows = [found["written"] for found in ROW.finditer((ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8"))]
    assert sorted(set(rows)) == sorted(rows)
