"""docs/gallery.md: its commands draw its pictures. TILEJIT_UPDATE_GOLDEN=1 rewrites them; check
them afterwards."""

import json
import os
import pathlib
import re
import shlex
import unittest
import xml.etree.ElementTree

from bench_run import sweep
from support import ROOT, CommandTest

PAGE = (ROOT / "docs" / "gallery.md").read_text()
FOLDER = ROOT / "docs" / "gallery"
NOT_OF_A_COMMAND = {"graph.svg", "sweep.json"}  # tests/graph/graph_picture_test.cpp, bench_run.py
WIDEST, TALLEST = 1700, 1500  # pixels of a page


class Gallery(CommandTest):
    def commands(self):
        return re.findall(r"^\$ tilejit (.*)$", PAGE, re.MULTILINE)

    def drawn(self, line):
        """Runs one command with its pictures in the test's folder; returns their names."""
        words, names = [], []
        for word in shlex.split(line):
            path = pathlib.PurePath(word)
            if path.parent == pathlib.PurePath("docs/gallery") and path.suffix != ".json":
                names.append(path.name)
                word = str(self.folder / path.name)
            elif path.suffix == ".json":
                word = str(ROOT / path)
            words.append(word)
        self.assertEqual(self.assert_ok(*words).count("<svg"), 0)  # pictures go to their files
        return names

    def test_commands_draw_the_pictures(self):
        for line in self.commands():
            with self.subTest(line=line):
                for name in self.drawn(line):
                    text = (self.folder / name).read_text()
                    if os.environ.get("TILEJIT_UPDATE_GOLDEN"):
                        (FOLDER / name).write_text(text)
                    self.assertEqual(text, (FOLDER / name).read_text())

    def test_every_picture_has_a_command_and_a_place(self):
        drawn = {pathlib.PurePath(path).name for path in re.findall(r"docs/gallery/[\w.]+", PAGE)}
        files = {path.name for path in FOLDER.iterdir()}
        self.assertEqual(files, drawn | NOT_OF_A_COMMAND)
        for name in files:
            if not name.endswith(".json"):
                self.assertIn(f"(gallery/{name})", PAGE)

    def test_the_run_of_the_plot_is_the_made_up_one(self):
        path = FOLDER / "sweep.json"
        if os.environ.get("TILEJIT_UPDATE_GOLDEN"):
            path.write_text(json.dumps(sweep(), indent=1) + "\n")
        self.assertEqual(json.loads(path.read_text()), sweep())

    def test_pictures_fit_a_page(self):
        for path in FOLDER.glob("*.svg"):
            with self.subTest(path=path.name):
                root = xml.etree.ElementTree.parse(path).getroot()
                self.assertLessEqual(float(root.get("width")), WIDEST)
                self.assertLessEqual(float(root.get("height")), TALLEST)


if __name__ == "__main__":
    unittest.main()
