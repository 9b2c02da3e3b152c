"""docs/layouts.md: every command that it shows prints what it shows."""

import os
import pathlib
import re
import subprocess
import unittest

from support import COMMAND, ROOT

PAGE = ROOT / "docs" / "layouts.md"


def shown_commands(text):
    """(command, output) of each `$ command` in the page's console blocks."""
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def printed(command):
    path = f"{pathlib.Path(COMMAND).resolve().parent}:{os.environ['PATH']}"
    result = subprocess.run(
        ["sh", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        env={**os.environ, "PATH": path},
        check=False,
    )
    return result.stdout


class Page(unittest.TestCase):
    def test_shows_what_is_printed(self):
        commands = list(shown_commands(PAGE.read_text()))
        self.assertGreater(len(commands), 40)
        for command, output in commands:
            with self.subTest(command=command):
                self.assertEqual(printed(command), output)

    def test_lists_all_operations(self):
        help_text = printed("tilejit layout --help").split("Layouts:")[1].split("Pictures:")[0]
        help_text = re.sub(r"\n {10,}", " ", help_text)  # descriptions of several lines
        operations = re.findall(r"^  (\w+) +(\S.*)$", help_text, re.MULTILINE)
        listed = re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
        self.assertGreater(len(operations), 50)
        self.assertEqual(listed, operations)


if __name__ == "__main__":
    unittest.main()
