"""The generator's digest, which is part of every key: what the build hashes, and what changes
it."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["TILEJIT_COMMAND"]).resolve().parents[1]
INCLUDED = BUILD / "generated" / "render_generator_files.txt"


def digest_of(root, files):
    """The digest of `files` below `root`, as the build computes it."""
    output = root / "embedded.cpp"
    subprocess.run(
        [
            "cmake", f"-DOUTPUT={output}", f"-DINCLUDED={root / 'included.txt'}", f"-DSOURCE_DIR={root}",
            "-DGENERATOR=" + ";".join(str(root / file) for file in files),
            "-P", ROOT / "cmake" / "DigestGenerator.cmake",
        ],
        check=True,
    )  # fmt: skip
    (digest,) = re.findall(r'generator_digest\(\) noexcept \{ return "([0-9a-f]{64})"', output.read_text())
    return digest


class Digest(unittest.TestCase):
    files = ("kernels_templates/tile/a.cuh", "src/plan/b.cpp", "src/plan/b.hpp")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "one"
        for file in self.files:
            (self.root / file).parent.mkdir(parents=True, exist_ok=True)
            (self.root / file).write_text(f"// {file}\n")

    def test_changes_with_every_file(self):
        """Regression tests 6 and 7: an edited template or included header gives new keys."""
        seen = {digest_of(self.root, self.files)}
        for file in self.files:
            (self.root / file).write_text("// edited\n")
            seen.add(digest_of(self.root, self.files))
        (self.root / "src/plan/c.hpp").write_text("")
        seen.add(digest_of(self.root, (*self.files, "src/plan/c.hpp")))
        (self.root / "src/plan/c.hpp").rename(self.root / "src/plan/d.hpp")
        seen.add(digest_of(self.root, (*self.files, "src/plan/d.hpp")))
        self.assertEqual(len(seen), len(self.files) + 3)

    def test_depends_on_neither_place_nor_order(self):
        before = digest_of(self.root, self.files)
        moved = self.root.parent / "it's another place"
        shutil.move(self.root, moved)
        self.assertEqual(digest_of(moved, reversed(self.files)), before)


    def test_follows_includes_and_nothing_else(self):
        """A comment in a public header that no generated code depends on made shipped bundles
        stale."""
        include = self.root / "include" / "tilejit"
        include.mkdir(parents=True)
        for header, text in {"dim": '#include "tilejit/nested.hpp"', "nested": "", "graph": ""}.items():
            (include / f"{header}.hpp").write_text(text + "\n")
        (self.root / "src/plan/b.hpp").write_text('#pragma once\n#  include "tilejit/dim.hpp"  // Dim\n')
        before = digest_of(self.root, self.files)
        for header, changes in {"dim": True, "nested": True, "graph": False}.items():
            text = (include / f"{header}.hpp").read_text()
            (include / f"{header}.hpp").write_text(text + "// edited\n")
            (self.assertNotEqual if changes else self.assertEqual)(digest_of(self.root, self.files), before, header)
            (include / f"{header}.hpp").write_text(text)


@unittest.skipUnless(INCLUDED.exists(), "the command is not where it was built")
class Files(unittest.TestCase):
    def test_are_all_that_templates_and_planning_consist_of(self):
        listed = INCLUDED.read_text().split()
        for folder in ("kernels_templates", "kernels_templates/tile", "src/ops/formula/plan", "src/ops/formula/render"):
            here = {str(path.relative_to(ROOT)) for path in (ROOT / folder).glob("*.*") if path.is_file()}
            self.assertEqual(here - set(listed) - {"kernels_templates/README.md"}, set(), folder)
        families = {path.parent for path in (ROOT / "src/ops/formula").glob("*/family.hpp")} - {ROOT / "src/ops/formula/plan"}
        self.assertGreaterEqual(len(families), 6)
        for path in (path for family in families for path in family.glob("*.?pp")):
            name = str(path.relative_to(ROOT))
            (self.assertNotIn if path.stem in ("figures", "knobs") else self.assertIn)(name, listed)
        self.assertIn("include/tilejit/layout.hpp", listed)
        self.assertNotIn("include/tilejit/graph.hpp", listed)


if __name__ == "__main__":
    unittest.main()
