"""From a name and arguments to an answer: the one place where an exception becomes text for the caller.

Every transport calls `dispatch`. It never raises; a fault of ours is logged with its traceback and answered in one
line.
"""

import logging
from collections.abc import Mapping
from functools import partial
from threading import Event
from typing import Any, Final

from polars.exceptions import PanicException

from vaultgraph.errors import QueryError, UnknownOperationError, VaultgraphError
from vaultgraph.serve import surface
from vaultgraph.serve.answers import Answer, text_answer
from vaultgraph.serve.cells import error_text
from vaultgraph.serve.operations import Operation
from vaultgraph.serve.parameters import check_arguments, nearest
from vaultgraph.serve.payload import fitting
from vaultgraph.serve.session import Call, Session, StillBuilding
from vaultgraph.serve.tool_names import in_callers_words
from vaultgraph.vault.tables import despite_damage

ERROR_BYTES: Final = 4096

log = logging.getLogger(__name__)


def dispatch(session: Session, name: str, arguments: Mapping[str, Any], cancelled: Event | None = None) -> Answer:
    """Run the operation ``name``; errors are answers with ``is_error``. ``cancelled`` stops a running query."""
    try:
        operation = find_operation(session, name)
        given = dict(arguments)
        if not operation.checks_itself:
            given = check_arguments(operation.parameters, arguments, operation.name)
        return despite_damage(partial(operation.run, Call(session, given, cancelled or Event())))
    except StillBuilding as waiting:
        return text_answer(in_callers_words(session, waiting.text))
    except (QueryError, UnknownOperationError) as error:  # these quote what the caller wrote, and name no other tool
        return text_answer(_capped(f"{error.code}: {error_text(error)}"), is_error=True)
    except VaultgraphError as error:
        return text_answer(_capped(in_callers_words(session, f"{error.code}: {error_text(error)}")), is_error=True)
    except (Exception, PanicException):  # a panic of the columns' engine is no Exception, and would end the server
        log.exception("the operation %s failed", name)
        return text_answer(
            f"internal: {name} failed because of a fault in vaultgraph; the server's log on stderr has the details. "
            "Other calls keep working.",
            is_error=True,
        )


def _capped(message: str) -> str:
    """Messages quote what the caller sent, however long it was."""
    shown = fitting(message, ERROR_BYTES)
    return message if len(shown) == len(message) else f"{shown}… ({len(message):,} characters)"


def find_operation(session: Session, name: str) -> Operation:
    """The operation called ``name`` that ``session`` offers.

    Raises:
        UnknownOperationError: there is none; the message names the nearest and lists all.
    """
    operation = surface.find_operation(session, name)
    if operation is None:
        offered = surface.operations_of(session)
        close = nearest(name, list(offered))
        advice = f" Did you mean `{close}`?" if close else ""
        raise UnknownOperationError(
            f"There is no tool `{name}`.{advice} Tools: {', '.join(offered)}.", {"name": name, "nearest": close}
        )
    return operation
