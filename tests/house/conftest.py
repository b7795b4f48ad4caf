"""The package as the house tests see it: every module with its syntax tree."""

import ast
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Module:
    """A source file: dotted ``name``, ``path``, ``text``, parsed ``tree`` and the names it imports (dotted)."""

    name: str
    path: Path
    text: str
    tree: ast.Module
    imports: frozenset[str]

    @property
    def package(self) -> str:
        """The folder below vaultgraph, or the module's own name on the ground floor."""
        parts = self.name.split(".")
        return parts[1] if len(parts) > 1 else ""


def read_module(path: Path) -> Module:
    relative = path.relative_to(ROOT).with_suffix("")
    name = ".".join(relative.parts).removesuffix(".__init__")
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(str(node.module))
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return Module(name, path, text, tree, frozenset(found))


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def modules() -> dict[str, Module]:
    found = (read_module(path) for path in sorted((ROOT / "vaultgraph").rglob("*.py")))
    return {module.name: module for module in found}
