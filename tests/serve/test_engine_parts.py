import subprocess
import sys
import textwrap


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_server_imports_no_readers_of_other_programs_files_and_of_arrays_no_documentation_types_or_algebra():
    found = _run("""
        import sys
        from vaultgraph.serve.engine_parts import import_engine

        import_engine()
        import numpy as np
        import numpy.typing as npt
        import polars as pl

        def first(numbers: npt.NDArray[np.int64], flags: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.int64]:
            return numbers

        print(pl.Series(np.arange(3)).to_list(), pl.DataFrame({"a": np.array([True])}).rows(), np.ndarray.sort.__doc__)
        left_out = ("polars.io.csv", "polars.io.iceberg", "polars.catalog.unity.client", "polars.sql.context")
        left_out = (*left_out, "numpy.ma.core", "numpy._typing", "numpy.linalg._linalg")
        print([name for name in left_out if name in sys.modules])
    """)
    assert found == "[0, 1, 2] [(True,)] None\n[]\n"


def test_what_of_polars_was_left_out_works_when_it_is_used():
    found = _run("""
        from vaultgraph.serve.engine_parts import import_engine

        import_engine()
        import polars as pl

        class Own(pl.Catalog):
            pass

        print(pl.read_csv(b"a,b\\n1,2").rows(), pl.DataFrame({"a": [1]}).write_csv().split())
        print(pl.sql("select 1 as x", eager=True).rows(), isinstance(pl.SQLContext(), pl.SQLContext))
        print(issubclass(Own, pl.Catalog), isinstance(1, pl.PartitionBy), pl.io.read_csv.__name__)
        with pl.Config(tbl_rows=1, tbl_formatting="ASCII_MARKDOWN"):
            print(str(pl.from_dicts([{"a": n} for n in range(9)])).count("\\n"))
        print(pl.DataFrame({"a": [1]}).lazy().collect().rows())
    """)
    assert found == "[(1, 2)] ['a', '1']\n[(1,)] True\nTrue False read_csv\n6\n[(1,)]\n"


def test_masked_arrays_are_there_for_who_makes_one():
    found = _run("""
        from vaultgraph.serve.engine_parts import import_engine

        import_engine()
        import numpy as np
        import polars as pl

        plain, masked = np.array([1, 2]), np.ma.array([1, 2], mask=[True, False])
        print(pl.Series(masked).to_list(), pl.Series(plain).to_list(), np.ma.getmask(plain) is np.ma.nomask)
        from numpy.ma import masked_array
        print(masked_array is np.ma.MaskedArray)
    """)
    assert found == "[None, 2] [1, 2] True\nTrue\n"


def test_linear_algebra_and_types_of_arrays_are_there_for_who_uses_them():
    found = _run("""
        from vaultgraph.serve.engine_parts import import_engine

        import_engine()
        import numpy as np
        import numpy.typing as npt

        print(np.linalg.inv(np.eye(2)).tolist(), (np.matrix([[1, 2], [3, 4]]) ** 2).tolist())
        print(np.polyfit([1, 2], [1, 2], 1).round().tolist(), npt.DTypeLike is not None, npt.NDArray[np.int64] | None)
    """)
    assert found.splitlines()[0] == "[[1.0, 0.0], [0.0, 1.0]] [[7, 10], [15, 22]]"
    assert found.splitlines()[1].startswith("[1.0, 0.0] True numpy.ndarray")


def test_where_the_engine_was_imported_it_stays_as_it_is():
    found = _run("""
        import polars as pl
        from vaultgraph.serve.engine_parts import import_engine

        import_engine()
        import numpy as np
        print(np.ndarray.sort.__doc__ is None, type(pl.read_csv).__name__)
    """)
    assert found == "False function\n"
