"""numpy and polars, imported only as far as a server needs them: without the documentation of arrays and without what
reads and writes files of other programs.

Called by the command line before anything else imports them; elsewhere they are what they always are.
"""

import sys
from types import ModuleType
from typing import Any, Final

from vaultgraph.serve.open_modules import lending, open_module

_DOCUMENTATION: Final = ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars")  # a thousand texts, no more
_READERS: Final = ("polars.io", "polars.io.cloud", "polars.catalog.unity", "polars.sql")
"""What polars names in its first lines, and uses nowhere before somebody calls it."""


def import_engine() -> None:
    """Import numpy and polars. Does nothing where one of them has been imported."""
    if not sys.modules.keys().isdisjoint(("numpy", "polars")):
        return
    for name in _DOCUMENTATION:
        sys.modules[name] = ModuleType(name)
    import numpy as np  # noqa: PLC0415 -- slow, and only now without its documentation

    masked = open_module("numpy.ma")
    if masked is not None:
        _answer_for_plain_arrays(masked, np)
    with lending(_READERS):
        import polars as _  # noqa: F401, PLC0415 -- as above


def _answer_for_plain_arrays(masked: ModuleType, np: Any) -> None:
    """Let ``masked`` say of an array that it is not masked, without its code: polars asks at each array it takes."""

    def getmask(_array: Any) -> Any:
        return np.False_

    def getdata(array: Any) -> Any:
        return array

    vars(masked).update(nomask=np.False_, getmask=getmask, getdata=getdata)
