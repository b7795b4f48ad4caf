"""numpy and polars, imported only as far as a server needs them: without the documentation and the types of arrays,
linear algebra, masked arrays, and what reads and writes files of other programs.

Called by the command line before anything else imports them; elsewhere they are what they always are.
"""

import sys
from types import ModuleType
from typing import Any, Final

from vaultgraph.serve.open_modules import lending, open_module

_DOCUMENTATION: Final = ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars")  # a thousand texts, no more
_ALGEBRA: Final = ("numpy.linalg",)
_READERS: Final = (
    "polars.catalog.unity",
    "polars.config",
    "polars.convert.general",
    "polars.convert.normalize",
    "polars.io",
    "polars.io.cloud",
    "polars.lazyframe.resolver",
    "polars.sql",
)
"""What polars names in its first lines, and uses nowhere before somebody calls it."""


def import_engine() -> None:
    """Import numpy and polars. Does nothing where one of them has been imported."""
    if not sys.modules.keys().isdisjoint(("numpy", "polars")):
        return
    for name in _DOCUMENTATION:
        sys.modules[name] = ModuleType(name)
    with lending(_ALGEBRA):
        import numpy as np  # noqa: PLC0415 -- slow, and only now without its documentation

    if (masked := open_module("numpy.ma")) is not None:
        _answer_for_plain_arrays(masked, np)
    if (types := open_module("numpy.typing")) is not None:
        vars(types)["NDArray"] = _AnyArray(np.ndarray)
    with lending(_READERS):
        import polars as _  # noqa: F401, PLC0415 -- as above


def _answer_for_plain_arrays(masked: ModuleType, np: Any) -> None:
    """Let ``masked`` say of an array that it is not masked, without its code: polars asks at each array it takes."""

    def getmask(_array: Any) -> Any:
        return np.False_

    def getdata(array: Any) -> Any:
        return array

    vars(masked).update(nomask=np.False_, getmask=getmask, getdata=getdata)


class _AnyArray:
    """What `NDArray` is while nobody reads annotations: an array, of whatever it is said to be."""

    __slots__ = ("_array",)

    def __init__(self, array: Any) -> None:
        self._array = array

    def __getitem__(self, _scalar: object) -> Any:
        return self._array
