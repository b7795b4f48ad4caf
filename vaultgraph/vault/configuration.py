"""The vault's own configuration files: read, and made a profile.

What they may say is profile/'s; here are only where they lie, and what to say of those that lie elsewhere.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from vaultgraph.errors import FileError, MissingFileError, PathEscapeError, ProfileError
from vaultgraph.files.root import VaultRoot
from vaultgraph.files.stamps import Problem
from vaultgraph.profile.settings import Profile

FILES: Final = (".kglite/vault.yaml", ".kglite/vaultgraph.yaml")
MOST_BYTES: Final = 1_000_000


def read_profile(
    root: VaultRoot, known: tuple[Mapping[str, str], Profile] | None = None
) -> tuple[Profile, dict[str, str], list[Problem]]:
    """The vault's configuration, the text of its files by path, and problems: symlinks out of the vault, files that
    lie one folder too deep.

    ``known``: texts of before, and the profile they made.

    Raises:
        ProfileError: a configuration file is refused, or is there and cannot be read.
    """
    contents: dict[str, bytes | None] = {}
    outside: list[Problem] = []
    for path in FILES:
        try:
            contents[path] = root.read_bytes(path, most_bytes=MOST_BYTES)
        except MissingFileError:
            contents[path] = None
        except PathEscapeError as error:
            contents[path] = None
            outside.append((path, None, "symlink-outside", "info", f"Not followed: {error.message}"))
        except FileError as error:
            # Going on without it would answer from another graph than the one configured.
            raise ProfileError(error.message, {"file": path, "line": None, "key": None}) from error
    if any(data is None for data in contents.values()):
        outside += _misplaced(root, [path for path, data in contents.items() if data is None])
    if known and {path: text.encode() for path, text in known[0].items()} == _present(contents):
        return known[1], dict(known[0]), outside
    return profile_of(contents), {path: data.decode() for path, data in _present(contents).items()}, outside


def _present(contents: Mapping[str, bytes | None]) -> dict[str, bytes]:
    return {path: data for path, data in contents.items() if data is not None}


def profile_of(contents: Mapping[str, bytes | None]) -> Profile:
    """The profile that configuration files by path make; None for a file that is not there.

    Raises:
        ProfileError: a file is refused.
    """
    if all(data is None for data in contents.values()):
        return Profile()
    from vaultgraph.profile.vault_yaml import load_profile  # noqa: PLC0415 -- few vaults need a YAML reader

    return load_profile(contents.get)


def _misplaced(root: VaultRoot, missing: list[str]) -> list[Problem]:
    """Files that are meant to be the ``missing`` ones: in a folder inside `.kglite`, where a copied example may end up,
    or with the ending `.yml`."""
    found: list[Problem] = []
    try:
        with root.find(".kglite", with_nearest=False) as here, os.scandir(here.folder) as entries:
            folders = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
            for path in missing:
                own, _, name = path.rpartition("/")
                for other in (f"{name.removesuffix('.yaml')}.yml", *(f"{folder}/{name}" for folder in folders)):
                    with suppress(OSError):
                        os.stat(other, dir_fd=here.folder, follow_symlinks=False)
                        advice = f"It is not read there: move it to {path}."
                        found.append((f"{own}/{other}", None, "misplaced-configuration", "warning", advice))
    except (FileError, OSError):
        return []
    return found
