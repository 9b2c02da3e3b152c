"""What the tests of the ctypes module share."""

import os
import pathlib
import sys
import tempfile

sys.path.insert(0, os.environ["TILEJIT_MODULES"])
import tilejit_ctypes as tilejit  # noqa: E402, F401


def spec(formula="c = a + b", dtype="f32", layout="(2,3):(3,1)", names="abc", **more):
    tensors = {name: {"dtype": dtype, "layout": layout} for name in names}
    return {"name": "add", "tensors": tensors, "formula": formula, **more}


def cache_folder(test):
    """A folder of the test's own."""
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    return pathlib.Path(folder.name)
