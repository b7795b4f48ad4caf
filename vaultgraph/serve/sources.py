"""What the file operations do: read a text, find lines, list folders.

They answer from the files themselves, at once and always fresh; the graph only helps to find a note by its name.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from vaultgraph.cypher.budget import Budget, budget_for
from vaultgraph.errors import MissingFileError
from vaultgraph.files import grep as line_search
from vaultgraph.files.listing import MOST_DEPTH, Entry, Listing, list_tree
from vaultgraph.files.lookup import paths_called
from vaultgraph.files.read import MOST_LINES, TextPart, outline, read_text
from vaultgraph.files.root import VaultRoot, askable
from vaultgraph.serve.answers import Answer, text_answer
from vaultgraph.serve.cells import counted, one_line
from vaultgraph.serve.hidden import hidden_characters
from vaultgraph.serve.lookup import Written, file_called, find_file, find_folder
from vaultgraph.serve.payload import ENVELOPE_BYTES, TextPages, fitting, reply_bytes, wire_bytes
from vaultgraph.serve.session import Call, Session
from vaultgraph.serve.tool_names import in_callers_words, offered_name

SHOWN: Final = 10  # candidates, skipped files and the like
OUTLINE_SHOWN: Final = 60
OUTLINE_CHARS: Final = 80
GREP_CONTEXT: Final = 2
GREP_RESULTS: Final = 50
GREP_DEADLINE_MS: Final = 60_000
ENTRIES: Final = 2000


def read_source(call: Call) -> Answer:
    """A text file, whole or in part; a long one as outline and first part."""
    root, path, meant = _found(call.session, call.arguments["file_path"])
    arguments = dict(call.arguments)
    if meant.heading:
        arguments.setdefault("heading", meant.heading)
    if meant.block:
        arguments.setdefault("grep", rf"\^{re.escape(meant.block)}\s*$")
    part = _part(root, path, arguments)
    most_bytes = reply_bytes(arguments)
    head = f"{one_line(part.path)}  ({_extent(part, arguments)})"
    if "grep" in arguments:
        left = part.matches - part.shown_matches
        advice = "raise max_matches" if part.shown_matches < MOST_LINES else "narrow with start_line"
        more = [f"{counted(left, 'more match', 'more matches')}: {advice}"] if left else []
        return call.session.results.answer(TextPages("\n".join([head, part.text, *more])), most_bytes)
    room = most_bytes - ENVELOPE_BYTES - 2 * wire_bytes(part.path)
    if wire_bytes(part.text) <= room:
        more = ["cut at max_chars"] if part.is_cut else []
        if part.is_cut and part.last_line < part.total_lines:
            more = [f"{more[0]}; {_next_part(call.session, part, arguments, part.last_line)}"]
        return text_answer("\n".join([head, part.text, *more]))
    return text_answer(_first_part(call.session, root, part, arguments, room))


def grep(call: Call) -> Answer:
    """Lines of the vault's text files that match a pattern."""
    budget = budget_for(GREP_DEADLINE_MS, call.cancelled)
    roots = call.session.folders()
    parts = [_grep_text(call, root, budget) for root in roots]
    text = "\n".join(parts if len(roots) == 1 else map(_below_heading, roots, parts))
    return call.session.results.answer(TextPages(text), reply_bytes(call.arguments))


def _grep_text(call: Call, root: VaultRoot, budget: Budget) -> str:
    """What was found in one folder."""
    arguments = call.arguments
    found = line_search.grep(
        root,
        arguments["pattern"],
        glob=arguments.get("glob"),
        context=arguments.get("context", 0),
        most_results=arguments.get("max_results", GREP_RESULTS),
        ignore_case=arguments.get("case_insensitive", False),
        check=budget.check,
    )
    has_context = arguments.get("context", 0) > 0
    lines = [*_grep_lines(found, has_context=has_context), *_grep_summary(found)]
    if "glob" in arguments and not found.files_searched:
        lines = [_no_file_searched(call.session, root, found, arguments["glob"]), *lines[1:]]
    return "\n".join(lines)


def list_source(call: Call) -> Answer:
    """The tree of a folder, two spaces a level."""
    roots = call.session.folders()
    parts: list[str] = []
    for place, root in enumerate(roots, 1):
        try:
            parts.append(_below_heading(root, _tree_text(call, root)) if len(roots) > 1 else _tree_text(call, root))
        except MissingFileError:
            if place == len(roots) and not parts:
                raise
    return call.session.results.answer(TextPages("\n".join(parts)), reply_bytes(call.arguments))


def _tree_text(call: Call, root: VaultRoot) -> str:
    arguments = call.arguments
    glob = arguments.get("glob")
    is_filtered = glob is not None
    depth = arguments.get("depth", MOST_DEPTH if is_filtered else 1)
    path = find_folder(root, arguments.get("path", "."))
    listing = list_tree(root, path, depth, glob, arguments.get("dirs_only", False), ENTRIES)
    if is_filtered and not listing.total:
        return _nothing_matched(listing, arguments)
    lines = [f"{one_line(listing.path) or '.'}/  ({counted(listing.total, 'entry', 'entries')})"]
    lines += [_entry_line(entry, listing.path, whole_path=is_filtered) for entry in listing.entries]
    if listing.is_cut:
        lines.append(f"{listing.total - len(listing.entries):,} more not shown: narrow with path, glob or depth")
    return "\n".join(lines)


def _found(session: Session, text: str) -> tuple[VaultRoot, str, Written]:
    """The file that ``text`` means: in the first folder that has one.

    Raises:
        VaultgraphError: as `find_file` says of the first folder.
    """
    try:
        return find_file(session, text)
    except MissingFileError:
        for root in session.more_roots:
            try:
                return root, *file_called(root, lambda: None, text)
            except MissingFileError:
                continue
        raise


def _below_heading(root: VaultRoot, text: str) -> str:
    """``text`` about one of several folders."""
    return f"== {one_line(root.name)}\n{text}"


def _part(root: VaultRoot, path: str, arguments: Mapping[str, Any], **changes: Any) -> TextPart:
    wanted = {**arguments, **changes}
    return read_text(
        root,
        path,
        start_line=wanted.get("start_line"),
        end_line=wanted.get("end_line"),
        pattern=wanted.get("grep"),
        context=wanted.get("grep_context", GREP_CONTEXT),
        most_matches=wanted.get("max_matches"),
        most_chars=wanted.get("max_chars"),
        heading=wanted.get("heading"),
    )


def _extent(part: TextPart, arguments: Mapping[str, Any]) -> str:
    """What part of the file an answer holds, in words."""
    lines = counted(part.total_lines, "line")
    if "grep" in arguments:
        text = f"{counted(part.matches, 'match', 'matches')} in {lines}"
    elif part.is_numbered or part.is_cut:
        text = f"lines {part.first_line}-{part.last_line} of {part.total_lines:,}"
    else:
        text = lines
    if hidden := hidden_characters(part.text):
        text = f"{text}; {hidden}"
    return text if part.is_utf8 else f"{text}; not UTF-8, odd bytes are shown as \ufffd"


def _first_part(session: Session, root: VaultRoot, part: TextPart, arguments: Mapping[str, Any], room: int) -> str:
    """As many numbered lines as fit, below the outline where the whole file was asked for, then the next call."""
    contents: list[str] = []
    if not part.is_numbered:
        contents = _outline_lines(part.text)
        part = _part(
            root, askable(part.path), arguments, start_line=1, end_line=min(part.total_lines, room), max_chars=None
        )
    room -= sum(wire_bytes(line) + 2 for line in contents)
    shown = fitting(part.text, room)
    if "\n" not in shown:
        line = part.text.split("\n", 1)[0]
        shown = (
            f"{fitting(line, room - 80)}… ({len(line):,} characters in this line)" if len(shown) < len(line) else line
        )
    shown = shown.rstrip("\n")
    last = part.first_line + shown.count("\n")
    hidden = hidden_characters(shown)
    extent = f"lines {part.first_line}-{last} of {part.total_lines:,}{'; ' if hidden else ''}{hidden}"
    head = f"{one_line(part.path)}  ({extent})"
    more = [] if last >= part.last_line else [_next_part(session, part, arguments, last)]
    if not more and contents and last < part.total_lines:
        more = [_next_part(session, part, arguments, last)]
    return "\n".join([head, *contents, shown, *more])


def _outline_lines(text: str) -> list[str]:
    headings = outline(text)
    if not headings:
        return []
    lines = [f"  {item.line}: {'#' * item.level} {item.text[:OUTLINE_CHARS]}" for item in headings[:OUTLINE_SHOWN]]
    if len(headings) > OUTLINE_SHOWN:
        lines.append(f"  … {len(headings) - OUTLINE_SHOWN} more headings")
    return ["outline (line: heading):", *lines, "text:"]


def _next_part(session: Session, part: TextPart, arguments: Mapping[str, Any], last: int) -> str:
    """How to go on after the line ``last``: the exact call."""
    is_bounded = "end_line" in arguments or "heading" in arguments
    end = f", end_line={part.last_line}" if is_bounded and not part.is_cut else ""
    name = json.dumps(askable(part.path), ensure_ascii=False)
    until = part.last_line if end else part.total_lines
    tool = offered_name(session, "read_source") or "read_source"
    return f"{counted(until - last, 'more line')}: {tool}(file_path={name}, start_line={last + 1}{end})"


def _grep_lines(found: line_search.GrepResult, *, has_context: bool) -> Iterator[str]:
    """``path:12:text`` for matches, ``path-11-text`` for context, ``--`` between groups that do not touch."""
    before: line_search.GrepLine | None = None
    for line in found.lines:
        if has_context and before and (before.path != line.path or line.line > before.line + 1):
            yield "--"
        mark = ":" if line.is_match else "-"
        yield f"{one_line(line.path)}{mark}{line.line}{mark}{line.text}"
        before = line


def _grep_summary(found: line_search.GrepResult) -> Iterator[str]:
    """What was found, what is not shown, and which files were not searched as text."""
    files = counted(found.files_searched, "file")
    if found.total:
        yield f"{counted(found.total, 'matching line')} in {found.files_with_matches:,} of {files}"
    else:
        yield f"no match in {files}"
    if found.total > found.shown:
        advice = "raise max_results, or narrow" if found.shown < line_search.MOST_LINES else "narrow"
        yield f"{found.total - found.shown:,} more not shown: {advice} with glob"
    if found.not_utf8:
        yield f"not UTF-8, searched with odd bytes replaced: {_listed(found.not_utf8)}"
    skipped = [f"{path} ({reason})" for path, reason in found.skipped if reason != "binary"]
    if skipped:
        yield f"not searched: {_listed(skipped)}"


def _no_file_searched(session: Session, root: VaultRoot, found: line_search.GrepResult, glob: str) -> str:
    """Why a search with a glob looked into no file, and the glob that would."""
    if found.skipped:
        return f"no text to search: the glob {glob!r} matches {counted(len(found.skipped), 'file')}, none of them text"
    folders = paths_called(root, glob.strip("/"), folders=True)
    if folders:
        return f"the glob {glob!r} matches no file: {one_line(folders[0])} is a folder; try glob={_below(folders[0])}"
    advice = in_callers_words(session, "below a folder of the vault; list_source shows what there is")
    return f"the glob {glob!r} matches no file: *.md is by file name at any depth, Folder/** is everything {advice}"


def _nothing_matched(listing: Listing, arguments: Mapping[str, Any]) -> str:
    """Where a listing with a glob looked, and how to widen it."""
    place = f"below {one_line(listing.path)}/" if listing.path else "in the vault"
    looked = f"{counted(listing.looked_at, 'entry', 'entries')} {place}"
    if "depth" in arguments:
        looked += f", {counted(arguments['depth'], 'level')} deep"
    wider = ["leave depth out"] if "depth" in arguments else []
    wider += ["leave dirs_only out"] if arguments.get("dirs_only") else []
    wider += ["leave path out"] if listing.path else []
    wider.append("a glob such as *.md or *word* is matched against names at any depth")
    return f"nothing matches {arguments['glob']!r} among {looked}. To widen: {'; '.join(wider)}."


def _below(folder: str) -> str:
    return json.dumps(f"{folder}/**", ensure_ascii=False)


def _entry_line(entry: Entry, folder: str, *, whole_path: bool) -> str:
    """One line of a tree; with ``whole_path`` the path below ``folder``, for entries without their parents."""
    name = one_line(entry.path.removeprefix(f"{folder}/") if whole_path else entry.path.rsplit("/", 1)[-1])
    indent = "" if whole_path else "  " * (entry.depth - 1)
    return f"{indent}{name}/" if entry.is_folder else f"{indent}{name}  {entry.size_bytes:,}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(one_line, names[:SHOWN])) + more
