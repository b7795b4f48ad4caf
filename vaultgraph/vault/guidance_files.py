"""The guidance in a vault: the skills of `.kglite/skills/*.md` and the recipes of `.kglite/recipes/*.md`.

Read on every refresh, so the files are few and small by rule; what is over a limit or cannot be read is a problem. What
the files mean is profile/guidance's business.
"""

import os
from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final, cast

from vaultgraph.cypher.bind import bind
from vaultgraph.cypher.clauses import parse
from vaultgraph.errors import FileError, MissingFileError, PathEscapeError, QueryError
from vaultgraph.files.root import VaultRoot
from vaultgraph.files.stamps import Problem
from vaultgraph.frozen import frozen
from vaultgraph.vault.valid_time import split_prefix

if TYPE_CHECKING:  # most vaults carry none: it is read and imported where there is any
    from vaultgraph.profile.guidance import Guidance, Recipe

FOLDERS: Final = ((".kglite/skills", "bad-skill"), (".kglite/recipes", "bad-recipe"))
MOST_FILES: Final = 200  # of one folder
MOST_BYTES: Final = 200_000  # of one file
MOST_NAMES: Final = 10_000  # of one folder that are looked at


def _no_files() -> dict[str, bytes]:
    return {}


@frozen
class Guided:
    """What a look at the guidance of a vault found: the files' content by path, what it says, and all problems.

    ``guidance`` is None where there are no files.
    """

    files: Mapping[str, bytes] = field(default_factory=_no_files)
    guidance: "Guidance | None" = None
    problems: tuple[Problem, ...] = ()


def read_guided(root: VaultRoot, known: Guided | None) -> Guided:
    """The guidance as it is now; what is ``known`` is not understood anew while the files are the same."""
    files, problems = _guidance_files(root)
    guidance = known.guidance if known is not None and known.files == files else _understood(files)
    return Guided(files, guidance, (*problems, *(guidance.problems if guidance else ())))


def _understood(files: Mapping[str, bytes]) -> "Guidance | None":
    if not files:
        return None
    from vaultgraph.profile.guidance import read_guidance  # noqa: PLC0415 -- as above

    guidance = read_guidance(files)
    faults = {recipe.path: fault for recipe in guidance.recipes if (fault := _query_fault(recipe)) is not None}
    if not faults:
        return guidance
    return replace(
        guidance,
        recipes=tuple(recipe for recipe in guidance.recipes if recipe.path not in faults),
        problems=(*guidance.problems, *((path, None, "bad-recipe", "warning", text) for path, text in faults.items())),
    )


def _query_fault(recipe: "Recipe") -> str | None:
    """Why the query of a recipe can never run; None where it may."""
    try:
        bare, _ = split_prefix(recipe.cypher)
        bind(parse(bare), bare, None, _any_values(recipe))
    except QueryError as error:
        return f"Its query cannot be run: {error.message.partition(chr(10))[0]}"
    except RecursionError:
        return "Its query has too many parts."
    return None


def _any_values(recipe: "Recipe") -> dict[str, object]:
    """A value for each parameter that is in no query's way: null, and a number where one is asked for (LIMIT, SKIP)."""
    from vaultgraph.profile.parameter_values import kinds_of  # noqa: PLC0415 -- as above

    described = cast("Mapping[str, Mapping[str, object]]", recipe.parameters["properties"])
    return {name: 1 if "integer" in kinds_of(one) else None for name, one in described.items()}


def _guidance_files(root: VaultRoot) -> tuple[dict[str, bytes], list[Problem]]:
    """The content of the guidance files by vault-relative path, sorted; and problems of reading them.

    Costs two look-ups where there are no such folders.
    """
    files: dict[str, bytes] = {}
    problems: list[Problem] = []
    for folder, code in FOLDERS:
        names = _note_names(root, folder)
        for name in names[:MOST_FILES]:
            path = f"{folder}/{name}"
            try:
                files[path] = root.read_bytes(path, most_bytes=MOST_BYTES)
            except MissingFileError:
                continue  # gone since the folder was listed
            except PathEscapeError as error:
                problems.append((path, None, "symlink-outside", "info", f"Not followed: {error.message}"))
            except FileError as error:
                problems.append((path, None, code, "warning", f"Not read: {error.message}"))
        if len(names) > MOST_FILES:
            advice = f"Of {len(names):,} files only the first {MOST_FILES} are read. Remove some."
            problems.append((folder, None, code, "warning", advice))
    return files, problems


def _note_names(root: VaultRoot, folder: str) -> list[str]:
    """Names that end in `.md` in ``folder``, sorted; empty where it is missing or no folder inside the vault."""
    names: list[str] = []
    try:
        with root.find(folder, with_nearest=False) as here:
            if not here.is_folder:
                return []
            with os.scandir(here.folder) as entries:
                for _, entry in zip(range(MOST_NAMES), entries, strict=False):
                    if entry.name[:1] != "." and entry.name[-3:].lower() == ".md" and entry.name.isprintable():
                        names.append(entry.name)
    except (FileError, OSError):
        return []
    return sorted(names)
