"""The vaults that are measured: the generated one, shared ones that are packed, or any folder.

Every side works on its own copy; the folder that was named is only ever read.
"""

import os
import re
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

from make_vault import Size, make_vault
from PIL import Image

REPOSITORY = Path(__file__).resolve().parent.parent
STANDARD = "standard"
IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp")


@dataclass(frozen=True, slots=True)
class Sample:
    """What the calls ask about: the note of middle size, a word of it, and one picture (None without any)."""

    note: str
    word: str
    image: str | None
    notes: int
    size_bytes: int


def shared_folder() -> Path:
    """Where packed vaults are looked for: VAULTGRAPH_SHARED, or `../shared` beside the repository."""
    return Path(os.environ.get("VAULTGRAPH_SHARED", REPOSITORY.parent / "shared")) / "vaults"


def shared_names() -> list[str]:
    """Names of the packed vaults there are; none where the folder is missing."""
    return sorted(path.name.removesuffix(".tar.xz") for path in shared_folder().glob("*.tar.xz"))


def prepare(name: str, work: Path, size: Size) -> Path:
    """The source folder of a vault: ``standard``, the name of a packed one, or a path.

    Raises: FileNotFoundError for a name that is none of them.
    """
    if name == STANDARD:
        make_vault(work / STANDARD, size)
        return work / STANDARD
    archive = shared_folder() / f"{name}.tar.xz"
    if archive.is_file():
        with tarfile.open(archive) as packed:
            packed.extractall(work / "unpacked", filter="data")
        return work / "unpacked" / name
    if Path(name).is_dir():
        return Path(name).resolve()
    raise FileNotFoundError(
        f"no vault {name!r}: give a folder, {STANDARD!r}, or one of {', '.join(shared_names()) or 'no packed vaults'}"
    )


def copy_for(side: str, source: Path, work: Path) -> Path:
    """A copy for one side, without any graph cache that came along."""
    copy = work / side / (source.name or "vault")
    shutil.copytree(source, copy, symlinks=True)
    forget_cache(copy)
    return copy


def forget_cache(vault: Path) -> None:
    """Remove the graph cache, its locks and leftovers, so that the next open builds."""
    for path in (vault / ".kglite").glob("graph.kgl*"):
        path.unlink()


def sample(vault: Path) -> Sample:
    """Pick what to ask about; the same choice for the same vault."""
    notes = sorted(
        (path.stat().st_size, path.relative_to(vault).as_posix())
        for path in vault.rglob("*.md")
        if not any(part.startswith(".") for part in path.relative_to(vault).parts)
    )
    if not notes:
        raise FileNotFoundError(f"{vault} holds no notes")
    note = notes[len(notes) // 2][1]
    text = (vault / note).read_text(encoding="utf-8", errors="replace").rpartition("\n---\n")[2]
    words = re.findall(r"[^\W\d_]{5,}", text) or re.findall(r"\w+", note)
    image = next((path for path in images_of(vault) if is_picture(vault / path)), None)
    return Sample(note, words[0], image, len(notes), sum(size for size, _ in notes))


def images_of(vault: Path) -> list[str]:
    """Files that are named like pictures and are small enough to be sent, sorted."""
    return sorted(
        path.relative_to(vault).as_posix()
        for path in vault.rglob("*")
        if path.suffix.lower() in IMAGES and not path.is_symlink() and 0 < path.stat().st_size < 1_000_000
    )


def is_picture(path: Path) -> bool:
    """Whether the file is a picture inside, too: shared vaults hold emptied ones."""
    try:
        with Image.open(path) as picture:
            return min(picture.size) > 0
    except OSError:
        return False
