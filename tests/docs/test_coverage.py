"""docs/coverage.md: every feature is shown by files and tests that exist, and by commands, specs and
programs that run."""

import re
import unittest

from console_blocks import ROOT, Command, run
from test_console import HAVE_NVRTC, TILEJIT

PAGE = ROOT / "docs" / "coverage.md"
IDS = [str(i) for i in range(1, 143)] + [f"m{i}" for i in range(1, 18)]
# In backticks, and with a dot or slash: anything else is the name of a thing, not what shows it.
FILE = re.compile(r"^(examples|tests|docs|src|include|editors)/[\w./-]+$")
TEST = re.compile(r"^[A-Z]\w+\.[A-Z]\w+$")
RUNNABLE = re.compile(r"^examples/(specs|catalogue|programs)/\w+\.(json|tl)$")
PYTHON_TEST = re.compile(r"^(test_\w+)\.(\w+)\.(test_\w+)$")


def rows():
    """(id, feature, the spans of code that show it, the whole cell) of each row."""
    for line in PAGE.read_text().splitlines():
        match = re.match(r"\| (m?\d+) \| (.*) \| (.*) \|$", line)
        if match:
            number, feature, cell = match.groups()
            yield number, feature, re.findall(r"`([^`]+)`", cell), cell


def shows(span):
    return FILE.match(span) or TEST.match(span) or PYTHON_TEST.match(span) or is_command(span)


def is_command(span):
    return span.startswith("tilejit ")


def cpp_tests():
    pattern = re.compile(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.M)
    for folder in ("tests", "cache/tests"):
        for path in (ROOT / folder).rglob("*.cpp"):
            for suite, name in pattern.findall(path.read_text()):
                yield f"{suite}.{name}"


class Coverage(unittest.TestCase):
    def test_has_a_row_for_each_feature(self):
        self.assertEqual([number for number, *_ in rows()], IDS)

    def test_each_row_shows_something_or_says_why_not(self):
        for number, _, spans, cell in rows():
            with self.subTest(number):
                reason = re.search(r"[Bb]y design (not|no)", cell)
                self.assertTrue(reason or any(map(shows, spans)), cell)

    def test_files_exist(self):
        for number, _, spans, _ in rows():
            for span in filter(FILE.match, spans):
                with self.subTest(f"{number}: {span}"):
                    self.assertTrue((ROOT / span).exists())

    def test_tests_exist(self):
        known = set(cpp_tests())
        for number, _, spans, _ in rows():
            for span in spans:
                with self.subTest(f"{number}: {span}"):
                    if TEST.match(span):
                        self.assertIn(span, known)
                    elif match := PYTHON_TEST.match(span):
                        module, suite, name = match.groups()
                        (path,) = (ROOT / "tests").rglob(f"{module}.py")
                        self.assertRegex(path.read_text(), rf"class {suite}\b[\s\S]* def {name}\b")

    def test_commands_succeed(self):
        shown = {}  # a command, and the first row that it is in
        for number, _, spans, _ in rows():
            for span in spans:
                if RUNNABLE.match(span):
                    shown.setdefault(f"tilejit run {span} --device cpu", number)
                elif is_command(span) and (HAVE_NVRTC or not span.startswith("tilejit compile")):
                    shown.setdefault(span, number)
        self.assertGreater(len(shown), 70)
        commands = [(number, Command(0, text, [])) for text, number in shown.items()]
        results = run([command for _, command in commands], TILEJIT, gpu=False)
        self.assertEqual(len(results), len(commands))
        for (number, command), result in zip(commands, results):
            with self.subTest(f"{number}: {command.text}"):
                self.assertEqual(result.code, 0, "\n".join(result.output))


if __name__ == "__main__":
    unittest.main()
