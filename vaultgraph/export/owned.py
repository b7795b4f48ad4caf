"""Putting an export on disk without touching what is not its own.

`.kglite/export.json` in the target lists the files of the last export with their SHA-256. What is not in it, or differs
from it, belongs to a person: it is never overwritten and never deleted. Everything is judged before anything is
written; a run that ends in between is finished by the next one.
"""

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from vaultgraph.durable import flush_all, remove_leftovers, replace_file
from vaultgraph.errors import ExportError
from vaultgraph.export.plan import MANIFEST, MOST_EXAMPLES, Plan, check_targets, pieces_of

VERSION: Final = 1
_MOST_MANIFEST_BYTES: Final = 1 << 28
_READ_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Written:
    """How many files were written, were there already, and were deleted; ``kept``: of the last export, edited since."""

    written: int
    unchanged: int
    deleted: int
    kept: tuple[str, ...]


@dataclass(slots=True)
class _Judged:
    """What is to be done, by path."""

    hashes: dict[str, str]  # as planned
    present: dict[str, str] = field(default_factory=dict[str, str])  # as they are, of files that are the export's own
    changed: list[str] = field(default_factory=list[str])
    stale: list[str] = field(default_factory=list[str])
    kept: list[str] = field(default_factory=list[str])
    refused: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def check_out(out: str | os.PathLike[str], source: Path | None) -> Path:
    """The target folder without symlinks; it need not exist, the folder it is in must.

    Raises: ExportError: it is a file, or the folder ``source`` or something inside it.
    """
    asked = Path(out)
    if not str(out):
        raise ExportError("The name of the target is empty. Name a folder for the export.")
    try:
        target = asked.resolve()
        if not target.parent.is_dir():
            raise ExportError(f"{target.parent}: no such folder. Make it first, or name another target.")
        if target.exists() and not target.is_dir():
            raise ExportError(f"{asked}: is a file. Name a folder for the export.")
    except (OSError, ValueError, RuntimeError) as reason:
        raise ExportError(f"{asked}: cannot be used as a target ({reason}).") from reason
    home = source.resolve() if source else None
    if home is not None and (target == home or home in target.parents):
        raise ExportError(f"{asked}: lies in the vault that is exported. Name a folder outside it.")
    return target


def write_plan(plan: Plan, out: Path, *, force: bool = False) -> Written:
    """Make ``out`` (from ``check_out``) hold the files of ``plan``; ``force`` overwrites what belongs to others.

    Raises: ExportError: a path that leads elsewhere, files that are not the export's own, or a disk that refuses.
    """
    check_targets(plan.files)
    owned, pending = _read_manifest(out, force=force)
    judged = _judge(plan, out, owned, pending)
    blocked = [path for path, why in judged.refused if why]
    if blocked or (judged.refused and not force):
        raise _refusal(out, judged.refused, force=force)
    judged.changed = sorted([*judged.changed, *(path for path, why in judged.refused if not why)])
    final = _manifest_bytes(plan, judged.hashes)
    try:
        _write(plan, out, judged, final)
    except OSError as reason:
        where = reason.filename or out
        raise ExportError(
            f"{where}: cannot be written ({reason.strerror}). Export again when that is solved."
        ) from reason
    unchanged = len(plan.files) - len(judged.changed)
    return Written(len(judged.changed), unchanged, len(judged.stale), tuple(sorted(judged.kept)))


def _refusal(out: Path, refused: list[tuple[str, str]], *, force: bool) -> ExportError:
    ordered = sorted(refused)
    shown = ", ".join(f"{path}{f' ({why})' if why else ''}" for path, why in ordered[:MOST_EXAMPLES])
    more = f" and {len(ordered) - MOST_EXAMPLES} more" if len(ordered) > MOST_EXAMPLES else ""
    advice = "Move them away" if force else "Move them away, name another folder, or say --force to overwrite them"
    return ExportError(
        f"{out}: nothing was written, because these files are not the last export's, or were edited since:"
        f" {shown}{more}. {advice}.",
        {"paths": [path for path, _ in ordered]},
    )


def _judge(plan: Plan, out: Path, owned: Mapping[str, str], pending: Mapping[str, str]) -> _Judged:
    judged = _Judged({})
    folders: dict[str, str | None] = {"": None}
    for path, content in sorted(plan.files.items()):
        digest = hashlib.sha256()
        for piece in pieces_of(content):
            digest.update(piece)
        wanted = judged.hashes[path] = digest.hexdigest()
        if fault := _folder_fault(out, path.rpartition("/")[0], folders):
            judged.refused.append((path, fault))
            continue
        there, fault = _hash_of(out / path)
        if fault:
            judged.refused.append((path, fault))
        elif there is None:
            judged.changed.append(path)
        elif there == wanted or _is_own(path, there, owned, pending):
            judged.present[path] = there
            if there != wanted:
                judged.changed.append(path)
        else:
            judged.refused.append((path, ""))
    for path in sorted({*owned, *pending} - set(plan.files)):
        if _folder_fault(out, path.rpartition("/")[0], folders):
            judged.kept.append(path)
            continue
        there, fault = _hash_of(out / path)
        if there is None and not fault:
            continue
        if there is not None and _is_own(path, there, owned, pending):
            judged.present[path] = there
            judged.stale.append(path)
        else:
            judged.kept.append(path)
    return judged


def _is_own(path: str, there: str, owned: Mapping[str, str], pending: Mapping[str, str]) -> bool:
    return there in {owned.get(path), pending.get(path)} or (path in pending and there == _EMPTY)


_EMPTY: Final = hashlib.sha256().hexdigest()  # what a power cut may leave of a file that was being written


def _folder_fault(out: Path, folder: str, known: dict[str, str | None]) -> str | None:
    """Why nothing can be written in ``folder``: it, or a folder above it, is a symlink or a file."""
    if folder in known:
        return known[folder]
    fault = _folder_fault(out, folder.rpartition("/")[0], known)
    if fault is None:
        with suppress(FileNotFoundError, NotADirectoryError):
            mode = (out / folder).lstat().st_mode
            fault = None if stat.S_ISDIR(mode) else f"{folder} is {'a symlink' if stat.S_ISLNK(mode) else 'a file'}"
    known[folder] = fault
    return fault


def _hash_of(file: Path) -> tuple[str | None, str]:
    """The SHA-256 of what is there, None for nothing; and why it cannot be replaced at all, "" where it can."""
    try:
        mode = file.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None, ""
    except OSError as reason:
        return None, reason.strerror or "cannot be looked at"
    if stat.S_ISLNK(mode):
        return "symlink", ""
    if not stat.S_ISREG(mode):
        return None, "is a folder" if stat.S_ISDIR(mode) else "is no regular file"
    digest = hashlib.sha256()
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return "unreadable", ""
    try:
        while piece := os.read(handle, _READ_BYTES):
            digest.update(piece)
    finally:
        os.close(handle)
    return digest.hexdigest(), ""


def _read_manifest(out: Path, *, force: bool) -> tuple[dict[str, str], dict[str, str]]:
    """Files of the last export with their hashes, and those of one that did not end."""
    if _folder_fault(out, MANIFEST.rpartition("/")[0], {"": None}):
        raise ExportError(f"{out / '.kglite'}: is a symlink or a file, so the export cannot keep its list there.")
    file = out / MANIFEST
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return {}, {}
    except OSError as reason:
        raise ExportError(f"{file}: cannot be read ({reason.strerror}).") from reason
    try:
        size = os.fstat(handle).st_size
        data = os.read(handle, size + 1) if size <= _MOST_MANIFEST_BYTES else b""
    finally:
        os.close(handle)
    try:
        found: Any = json.loads(data)
        if found["version"] != VERSION:
            raise ValueError("another version")
        owned, pending = _hashes(found["files"]), _hashes(found.get("pending", {}))
        check_targets(owned)
        check_targets(pending)
    except (ValueError, KeyError, TypeError, RecursionError, ExportError) as reason:
        if force:
            return {}, {}
        raise ExportError(
            f"{file}: is not the list of an export by this version, so no file here can be known as its own. Name"
            " another folder, or say --force."
        ) from reason
    return owned, pending


def _hashes(found: object) -> dict[str, str]:
    if not isinstance(found, dict):
        raise TypeError("no map of files")
    entries = cast("dict[str, object]", found)
    if not all(isinstance(digest, str) for digest in entries.values()):
        raise TypeError("no hash")
    return cast("dict[str, str]", entries)


def _manifest_bytes(plan: Plan, hashes: Mapping[str, str], pending: Mapping[str, str] | None = None) -> bytes:
    found: dict[str, Any] = {"version": VERSION, "form": plan.form, "files": dict(sorted(hashes.items()))}
    if pending is None:
        found["not_carried"] = plan.report()
    else:
        found["pending"] = dict(sorted(pending.items()))
    return (json.dumps(found, ensure_ascii=False, indent=1) + "\n").encode()


def _write(plan: Plan, out: Path, judged: _Judged, final: bytes) -> None:
    """First what will be owned, then the files, last the list of what is."""
    manifest = out / MANIFEST
    if not judged.changed and not judged.stale and _hash_of(manifest)[0] == hashlib.sha256(final).hexdigest():
        return
    manifest.parent.mkdir(parents=True, exist_ok=True)
    replace_file(manifest, [_manifest_bytes(plan, judged.present, judged.hashes)])
    for path in judged.changed:
        try:
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            replace_file(out / path, pieces_of(plan.files[path]), is_flushed=False)
        except OSError as reason:
            raise ExportError(
                f"{out / path}: cannot be written ({reason.strerror}). Export again when that is solved.",
                {"paths": [path]},
            ) from reason
    for folder in {manifest.parent, *((out / path).parent for path in judged.hashes)}:
        remove_leftovers(folder)  # of a run that was killed
    for path in judged.stale:
        (out / path).unlink(missing_ok=True)
    for folder in sorted({str(Path(path).parent) for path in judged.stale}, reverse=True):
        _remove_empty(out, folder)
    flush_all()
    replace_file(manifest, [final])


def _remove_empty(out: Path, folder: str) -> None:
    """Remove a folder that a deleted file left empty, and so upwards."""
    with suppress(OSError):
        while folder not in {"", "."}:
            (out / folder).rmdir()
            folder = str(Path(folder).parent)
