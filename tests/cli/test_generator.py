"""The generator's digest, a part of every key: what the build takes it over, and what changes it."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["TILEJIT_COMMAND"]).resolve().parents[1]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def digest_of(root, files):
    """As the build computes it, of `files` below `root`."""
    output = root / "embedded.cpp"
    subprocess.run(
        [
            "cmake", f"-DOUTPUT={output}", f"-DSOURCE_DIR={root}", "-DTEMPLATES=",
            "-DGENERATOR=" + ";".join(str(root / file) for file in files),
            "-P", ROOT / "cmake" / "EmbedTemplates.cmake",
        ],
        check=True,
    )  # fmt: skip
    (digest,) = re.findall(r'generator_digest\(\) noexcept \{ return "([0-9a-f]{64})"', output.read_text())
    return digest


def generator_files():
    """What the build's own command is given, relative to the source folder."""
    commands = (BUILD / "build.ninja").read_text()
    (listed,) = re.findall(r'"-DGENERATOR=([^"]*)"', commands)
    return {os.path.relpath(path, ROOT) for path in listed.split(";")}


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


@unittest.skipUnless((BUILD / "build.ninja").exists(), "the build was not made by ninja")
class Files(unittest.TestCase):
    def test_are_all_that_templates_and_planning_consist_of(self):
        """Whatever a template or a source of the generator includes is in the digest itself."""
        listed = generator_files()
        folders = (ROOT / "src", ROOT / "include", ROOT / "kernels_templates")
        missing = set()
        for file in listed:
            for name in INCLUDE.findall((ROOT / file).read_text()):
                places = [(ROOT / file).parent / name, *(folder / name for folder in folders)]
                found = {os.path.relpath(place, ROOT) for place in places if place.exists()}
                if found and not found & listed:
                    missing.add((file, name))
        self.assertEqual(missing, set())
        for folder in ("kernels_templates", "src/plan", "src/render"):
            self.assertTrue([file for file in listed if file.startswith(folder)], folder)


if __name__ == "__main__":
    unittest.main()
