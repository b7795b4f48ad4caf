"""What `fetch_images` does: pictures of the vault as image blocks, and one text that says what came and what did not.

A name without its folder resolves like an embed, where it is unique. Refused items take no place among the delivered.
"""

from typing import Final

from vaultgraph.errors import FileError, ImageError, MissingFileError, ParameterError, VaultgraphError
from vaultgraph.files.image import ImageData, load_image
from vaultgraph.files.root import VaultRoot, askable
from vaultgraph.files.stamps import scan
from vaultgraph.files.walk import fold
from vaultgraph.serve.answers import Answer, ImagePart, TextPart, text_answer
from vaultgraph.serve.cells import one_line
from vaultgraph.serve.lookup import is_address, short, written
from vaultgraph.serve.session import Call
from vaultgraph.serve.tool_names import in_callers_words

MOST_ITEMS: Final = 100
CANDIDATES_SHOWN: Final = 10
NEAREST: Final = 3


def fetch_images(call: Call) -> Answer:
    """The images named, in order, and a text that lists delivered and refused."""
    items: list[str] = call.arguments["items"]
    if len(items) > MOST_ITEMS:
        most = call.session.manifest.images.most_images
        raise ParameterError(f"`items` may name at most {MOST_ITEMS}; {most} are delivered a call.")
    tray = _Tray(call)
    for item in items:
        tray.add(item)
    return tray.answer()


class _Tray:
    """Images of one call, each once, within its caps; and the reasons why others are not there."""

    def __init__(self, call: Call) -> None:
        self._session = call.session
        self._roots = call.session.folders()
        self._caps = call.session.manifest.images
        self._most_bytes = min(call.arguments.get("max_bytes", self._caps.most_bytes), self._caps.most_bytes)
        self._most_edge: int | None = call.arguments.get("max_edge")
        self._images: dict[str, ImageData] = {}
        self._refused: list[str] = []
        self._names: dict[VaultRoot, dict[str, list[str]]] = {}

    def add(self, item: str) -> None:
        """Deliver ``item``, or note why not."""
        try:
            root, path = self._place(item)
            key = f"{root.path}\0{path}"
            if key in self._images:
                return
            if len(self._images) == self._caps.most_images:
                raise ImageError(f"{path}: at most {self._caps.most_images} images a call; ask for it in another one.")
            image = load_image(root, path, most_bytes=self._most_bytes, most_edge=self._most_edge)
            if sum(map(_size, self._images.values())) + image.size_bytes > self._caps.most_total_bytes:
                raise ImageError(
                    f"{path}: with its {image.size_bytes:,} bytes the reply would be over the cap of "
                    f"{self._caps.most_total_bytes:,}; ask for it in another call."
                )
        except VaultgraphError as error:
            self._refused.append(in_callers_words(self._session, error.message))
        else:
            self._images[key] = image

    def answer(self) -> Answer:
        """Image blocks, then the text; an error where nothing is delivered."""
        refused = f", refused {len(self._refused)}" if self._refused else ""
        lines = [f"delivered {len(self._images)}{refused}"]
        for image in self._images.values():
            note = f"; {image.note}" if image.note else ""
            facts = f"{image.mime}, {image.size_bytes:,} bytes, {image.width} × {image.height}{note}"
            lines.append(f"- {one_line(image.path)} ({facts})")
        lines += [f"- refused {one_line(reason)}" for reason in self._refused]
        if not self._images:
            return text_answer("image: no image was delivered.\n" + "\n".join(lines[1:]), is_error=True)
        blocks = [ImagePart(image.data, image.mime) for image in self._images.values()]
        return Answer((*blocks, TextPart("\n".join(lines))))

    def _place(self, item: str) -> tuple[VaultRoot, str]:
        """The folder of ``item``, the first that has it, and its real path there."""
        for root in self._roots[:-1]:
            try:
                return root, self._path(root, item)
            except MissingFileError:
                continue
        return self._roots[-1], self._path(self._roots[-1], item)

    def _path(self, root: VaultRoot, item: str) -> str:
        """The real path of ``item``: as it stands, or of the one file whose path ends so."""
        try:
            return askable(root.stat(item).path)
        except FileError as missing:
            if is_address(item):
                raise ImageError(f"{short(item)}: is a web address; only files of the vault are delivered.") from None
            if not isinstance(missing, MissingFileError):
                raise
            if root not in self._names:
                self._names[root] = _paths_by_name(root)
            name = fold(root.check(written(item).name))
            found = [
                path
                for path in self._names[root].get(name.rsplit("/", 1)[-1], [])
                if fold(path) == name or fold(path).endswith(f"/{name}")
            ]
            if len(found) == 1:
                return askable(found[0])
            if not found and (note := _note_called(name, self._names[root])):
                raise ImageError(f"{one_line(note)}: is a note, not an image. read_source shows its text.") from None
            if not found:
                raise _with_nearest(missing, name, self._names[root]) from None
        listed = ", ".join(found[:CANDIDATES_SHOWN]) + (" …" if len(found) > CANDIDATES_SHOWN else "")
        raise ImageError(f"{item}: {len(found)} files are called so; ask for one by its path: {listed}.")


def _note_called(name: str, names: dict[str, list[str]]) -> str | None:
    """The path of the one note called ``name``, a folded name without suffix; None where other files are called so."""
    stem = name.rsplit("/", 1)[-1]
    called = [key for key in names if key.startswith(f"{stem}.") and key.rpartition(".")[0] == stem]
    found = [path for path in names.get(f"{stem}.md", []) if f"/{fold(path)}".endswith(f"/{name}.md")]
    return found[0] if len(called) == len(found) == 1 else None


def _with_nearest(missing: MissingFileError, name: str, names: dict[str, list[str]]) -> MissingFileError:
    """The error with the paths of files whose names are like ``name`` too."""
    by_stem = {key.rsplit(".", 1)[0]: paths for key, paths in names.items()}
    known = {**by_stem, **names}
    from difflib import get_close_matches  # noqa: PLC0415 -- only where a name is wrong

    close = get_close_matches(name.rsplit("/", 1)[-1], list(known), n=NEAREST, cutoff=0.7)
    found = [path for key in close for path in known[key]]
    nearest = list(dict.fromkeys([*missing.data["nearest"], *found]))[:NEAREST]
    if not nearest:
        return missing
    place = missing.message.split(": not in the vault", 1)[0]
    return MissingFileError(f"{place}: not in the vault. Did you mean {' or '.join(nearest)}?")


def _paths_by_name(root: VaultRoot) -> dict[str, list[str]]:
    """The paths of all files of the vault by folded file name."""
    names: dict[str, list[str]] = {}
    for path in scan(root).files["path"].to_list():
        names.setdefault(fold(path.rsplit("/", 1)[-1]), []).append(path)
    return names


def _size(image: ImageData) -> int:
    return image.size_bytes
