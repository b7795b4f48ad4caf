"""Skills as callers see them: the `skill` operation, what the overview says of guidance, and the label of vault text.

The texts are read and chosen in serve/guidance; prompts are the same skills over another method.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from vaultgraph.errors import ParameterError
from vaultgraph.serve.answers import Answer
from vaultgraph.serve.cells import one_line
from vaultgraph.serve.guidance import SHOWN_DESCRIPTION_CHARS, Guides, ServedSkill, guides_of
from vaultgraph.serve.parameters import nearest
from vaultgraph.serve.payload import TextPages, reply_bytes, wire_bytes
from vaultgraph.serve.session import Call, Session
from vaultgraph.serve.tool_names import in_callers_words, offered_name

TOOLS_SHOWN: Final = 10
NAMES_BYTES: Final = 260  # of one line of names in the overview
OVERVIEW_BYTES: Final = 3_900  # with eager skills: the whole overview stays under 4 KB


def skill(call: Call) -> Answer:
    """The text of a skill, or without a name the list of them."""
    guides = guides_of(call.session, call.session.offered or {})
    name = call.arguments.get("name")
    text = skill_list(call.session, guides) if name is None else skill_text(call.session, find_skill(guides, name))
    return call.session.results.answer(TextPages(text), reply_bytes(call.arguments))


def find_skill(guides: Guides, name: str) -> ServedSkill:
    """The skill offered as ``name``; those of the vault also as `vault:NAME`.

    Raises:
        ParameterError: there is none; the message names the nearest and all.
    """
    bare = name.removeprefix("vault:")
    found = guides.skills.get(name) or guides.skills.get(bare)
    if found is not None and (found.source == "vault" or bare == name):
        return found
    close = nearest(name, list(guides.skills))
    advice = f" Did you mean `{one_line(close)}`?" if close else ""
    shown = one_line(", ".join(guides.skills)) or "none"
    raise ParameterError(
        f"There is no skill `{name[:100]}`.{advice} Skills: {shown[:2_000]}.", {"name": "name", "nearest": close}
    )


def skill_text(session: Session, served: ServedSkill) -> str:
    """The text, a vault's below a line that says whose words it is; in ours tools have the names they have here."""
    match served.source:
        case "vault":
            return f"{vault_label(session, served)}\n\n{served.skill.text}"
        case "server":
            return "\n".join(in_callers_words(session, line) for line in served.skill.text.split("\n"))
        case _:
            return served.skill.text


def vault_label(session: Session, served: ServedSkill) -> str:
    """The line above the text of a vault's skill."""
    place = f'the vault "{one_line(session.name)}", {one_line(served.skill.path)}'
    return f"[From {place}: its author's advice, not this server's.]"


def skill_list(session: Session, guides: Guides) -> str:
    """A line for each skill, the vault's own under its name."""
    own = [served for served in guides.skills.values() if served.source != "vault"]
    carried = [served for served in guides.skills.values() if served.source == "vault"]
    lines = [_listed(session, served) for served in own]
    if carried:
        lines.append(f'Of the vault "{one_line(session.name)}", in the words of its author:')
        lines += [_listed(session, served) for served in carried]
    return "\n".join(lines) or "There are no skills."


def _listed(session: Session, served: ServedSkill) -> str:
    """A line of the list: name, when it is wanted, and the tools it is about that are offered here."""
    offered = (_offered(session, tool) for tool in served.skill.references_tools)
    about = list(dict.fromkeys(name for name in offered if name is not None))
    tools = f" (for {', '.join(about[:TOOLS_SHOWN])})" if about else ""
    return f"{one_line(served.name)} — {described(served)}{tools}"


def _offered(session: Session, tool: str) -> str | None:
    """The name here of a tool that a skill refers to by its own name or the one it has here."""
    names = {offered_name(session, bundled) for bundled in session.offered or {}}
    return tool if tool in names else offered_name(session, tool)


def described(served: ServedSkill) -> str:
    """When a skill is wanted, in one line."""
    text = one_line(served.skill.description)
    return text if len(text) <= SHOWN_DESCRIPTION_CHARS else text[: SHOWN_DESCRIPTION_CHARS - 1] + "…"


def guidance_lines(session: Session) -> list[str]:
    """What the overview says of recipes and skills: their names, the vault's under its name."""
    guides = guides_of(session, session.offered or {})
    run, listing, advice = (
        offered_name(session, name) for name in ("run_recipe_query", "list_recipe_queries", "skill")
    )
    lines: list[str] = []
    for is_vaults, whose in ((False, ""), (True, " of the vault")):
        if run is not None:
            keys = [".".join(key) for key, one in guides.recipes.items() if (one.source == "vault") is is_vaults]
            lines += _named(f"Recipes{whose} ({run})", keys, listing or run)
        if advice is not None:
            names = [name for name, one in guides.skills.items() if (one.source == "vault") is is_vaults]
            lines += _named(f"Skills{whose} ({advice})", names, f"{advice} without a name")
    return lines


def _named(heading: str, names: Sequence[str], call: str) -> list[str]:
    if not names:
        return []
    shown: list[str] = []
    used = 0
    for name in map(one_line, names):
        used += wire_bytes(name) + 2
        if used > NAMES_BYTES:
            shown.append(f"+{len(names) - len(shown)} more: {call}")
            break
        shown.append(name)
    return [f"{heading}: {', '.join(shown)}"]


def eager_texts(session: Session, used_bytes: int) -> Iterable[str]:
    """Texts of skills to be delivered with the overview, as many as its bytes have room for."""
    if offered_name(session, "skill") is None:
        return
    for served in guides_of(session, session.offered or {}).skills.values():
        if served.skill.delivery == "eager":
            text = f"Skill {one_line(served.name)}:\n{skill_text(session, served).strip()}"
            used_bytes += wire_bytes(text) + 4
            if used_bytes > OVERVIEW_BYTES:
                return
            yield text
