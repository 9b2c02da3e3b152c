"""docs/layouts.md: the table lists the operations that the command has."""

import re
import unittest

from support import ROOT, LayoutTest

PAGE = ROOT / "docs" / "layouts.md"


class Page(LayoutTest):
    def test_lists_all_operations(self):
        help_text = self.layout("--help").split("Layouts:")[1].split("Pictures:")[0]
        help_text = re.sub(r"\n {10,}", " ", help_text)  # descriptions of several lines
        operations = re.findall(r"^  (\w+) +(\S.*)$", help_text, re.MULTILINE)
        listed = re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
        self.assertGreater(len(operations), 50)
        self.assertEqual(listed, operations)


if __name__ == "__main__":
    unittest.main()
