"""The house keeps its shape: floors, cycles, seams, sizes and names."""

import ast
import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter

import pytest

FLOORS = [
    {"errors", "durable", "frozen"},
    {"files", "kgl", "profile"},
    {"note"},
    {"graph"},
    {"cypher", "export"},
    {"vault"},
    {"serve"},
    {"cli"},
]
FLOOR_OF = {package: floor for floor, packages in enumerate(FLOORS) for package in packages}
SEAMS = {
    "watchfiles": {"vaultgraph.vault.watch"},
    "inotify_simple": {"vaultgraph.vault.bell"},
    "mcp": {"vaultgraph.serve"},
    "uvicorn": {"vaultgraph.serve.http_server", "vaultgraph.serve.http_connections"},
    "yaml": {"vaultgraph.note.frontmatter", "vaultgraph.profile", "vaultgraph.export"},
    "frontmatter": {"vaultgraph.note.frontmatter"},
    "PIL": {"vaultgraph.files.image"},
    "markdown_it": {"vaultgraph.note"},
    "polars": {"vaultgraph.profile", "vaultgraph.note", "vaultgraph.files", "vaultgraph.graph", "vaultgraph.cypher",
               "vaultgraph.kgl", "vaultgraph.export", "vaultgraph.vault", "vaultgraph.serve", "vaultgraph.cli"},
    "click": {"vaultgraph.cli"},
    "rich": {"vaultgraph.cli", "vaultgraph.cypher.result"},
    "rustworkx": {"vaultgraph.cypher.algorithms"},
    "pyarrow": {"vaultgraph.export.parquet"},
}  # fmt: skip
EMPTY_NAMES = {"utils", "helpers", "common", "misc", "base", "core", "manager"}
MOST_LINES, MOST_FUNCTION_LINES = 400, 60
PUBLIC_NAMES = 14


def _internal(modules, module):
    """The modules of the package that ``module`` imports."""
    return {name for name in module.imports if name in modules and name != module.name} - {"vaultgraph"}


def test_every_module_has_a_floor(modules):
    packages = {module.package for module in modules.values()} - {""}
    assert packages == set(FLOOR_OF)


def test_modules_import_only_lower_floors_or_their_own_package(modules):
    wrong = [
        f"{module.name} imports {name}"
        for module in modules.values()
        if module.package
        for name in _internal(modules, module)
        if modules[name].package != module.package and FLOOR_OF[modules[name].package] >= FLOOR_OF[module.package]
    ]
    assert wrong == []


def test_modules_do_not_import_each_other_in_a_circle(modules):
    graph = {name: _internal(modules, module) for name, module in modules.items()}
    assert list(TopologicalSorter(graph).static_order())


def test_nothing_inside_imports_the_public_module(modules):
    allowed = {"vaultgraph.__version__"}
    for module in modules.values():
        if module.name != "vaultgraph":
            public = {name for name in module.imports if name.startswith("vaultgraph.") and name.count(".") == 1} - set(
                modules
            )
            assert public <= allowed, f"{module.name} imports {public}"


def test_inner_init_files_hold_a_docstring_only(modules):
    for module in modules.values():
        if module.path.name == "__init__.py" and module.name != "vaultgraph":
            assert [type(node) for node in module.tree.body] == [ast.Expr], module.name


@pytest.mark.parametrize("library", sorted(SEAMS))
def test_third_party_libraries_stay_behind_their_seam(modules, library):
    users = {
        module.name
        for module in modules.values()
        if any(name == library or name.startswith(f"{library}.") for name in module.imports)
    }
    outside = {
        user for user in users if not any(user == seam or user.startswith(f"{seam}.") for seam in SEAMS[library])
    }
    assert outside == set()
    assert users, f"{library} is not used: drop the dependency"


def test_modules_stay_short(modules):
    assert {m.name: n for m in modules.values() if (n := m.text.count("\n")) > MOST_LINES} == {}


def test_functions_stay_short(modules):
    long = {}
    for module in modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MOST_FUNCTION_LINES:
                    long[f"{module.name}.{node.name}"] = lines
    assert long == {}


def test_only_dispatch_catches_everything(modules):
    # vault.patience hands what it catches to the thread that waits, where dispatch catches it.
    allowed = {"vaultgraph.serve.dispatch", "vaultgraph.vault.patience"}
    for module in modules.values():
        if module.name in allowed:
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ExceptHandler):
                names = {n.id for n in ast.walk(node.type) if isinstance(n, ast.Name)} if node.type else {"Exception"}
                assert not names & {"Exception", "BaseException"}, f"{module.path}:{node.lineno}"


def test_module_names_say_something(modules):
    assert [module.name for module in modules.values() if module.path.stem in EMPTY_NAMES] == []


def test_every_module_says_what_it_is_for(modules):
    for module in modules.values():
        assert ast.get_docstring(module.tree), module.name


def test_public_functions_and_classes_have_docstrings(modules):
    bare = [
        f"{module.name}.{node.name}"
        for module in modules.values()
        if module.name != "vaultgraph.cypher.syntax"
        for node in module.tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
        if not ast.get_docstring(node)
    ]
    assert bare == []


def test_public_surface_is_small_and_frozen():
    import vaultgraph

    assert len(vaultgraph.__all__) <= PUBLIC_NAMES
    assert set(vaultgraph.__all__) == {
        "Node",
        "Path",
        "Relationship",
        "Report",
        "Result",
        "Vault",
        "VaultgraphError",
        "__version__",
        "open",
        "Graph",
        "query",
    }
    assert all(hasattr(vaultgraph, name) for name in vaultgraph.__all__)


def test_code_speaks_of_nodes_and_relationships(modules):
    for module in modules.values():
        for node in ast.walk(module.tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                assert not re.search(r"vert(ex|ices)|edges?_of|_edges?$", node.name.lower()), (
                    f"{module.name}.{node.name}"
                )


def test_importing_the_package_writes_nothing_and_starts_no_server_code():
    late = {"mcp", "uvicorn", "PIL", "rich", "click", "usearch", "rustworkx", "pyarrow"}
    script = f"import sys, vaultgraph; print(sorted({late} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
    assert done.stderr == ""


def test_every_dependency_is_explained(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(d for extra in project["optional-dependencies"].values() for d in extra)]
    names = {re.split(r"[<>=\[;! ]", entry, maxsplit=1)[0] for entry in wanted}
    text = (root / "docs" / "dependencies.md").read_text()
    assert {name for name in names if f"`{name}`" not in text} == set()


def test_every_error_code_is_in_the_tree_of_the_errors_module(modules):
    import vaultgraph.errors as errors

    tree = errors.__doc__ or ""
    for value in vars(errors).values():
        if isinstance(value, type) and issubclass(value, errors.VaultgraphError):
            assert re.search(rf"\b{value.__name__}\b", tree), value
            assert re.search(rf"\b{value.code}\b", tree) or value.code == "error", value.code


def test_every_problem_code_is_explained(root, modules):
    """A code is a hyphenated (or one-word) literal beside a severity; VAULT.md lists them in its last section."""
    others = {
        "site-packages",
        "utf-8",
        "utf-8-sig",
        "utf-16",
        "vaultgraph-background",
        "vaultgraph-read",
        "vaultgraph-watch",
    }
    used: set[str] = set()
    for module in modules.values():
        if module.package in {"note", "files", "graph", "vault"}:
            used |= set(re.findall(r'"([a-z0-9]+(?:-[a-z0-9]+)+)"', module.text)) - others
    listed = set(re.findall(r"`([a-z0-9-]+)`", (root / "VAULT.md").read_text().partition("## 11.")[2]))
    assert len(used) > 10
    assert used <= listed


def test_every_package_is_in_the_architecture(root, modules):
    text = (root / "docs" / "architecture.md").read_text()
    for package in {module.package for module in modules.values()} - {""}:
        assert re.search(rf"\b{package}\b", text), package


def test_readme_shows_the_two_commands_and_ci_runs_one_of_them(root):
    readme = (root / "README.md").read_text()
    assert "make serve" in readme
    assert "make test" in readme
    assert "make test" in (root / ".ci" / "run").read_text()
