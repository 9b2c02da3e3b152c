"""Relative links of all pages lead to existing files and headings."""

import re
import unittest

from console_blocks import PAGES, ROOT

LINK = re.compile(r"\]\(([^)\s]+)\)")


def lines_of(page):
    """(number, line) of each line outside fenced blocks."""
    fenced = False
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(page):
    """Anchors of headings, as GitHub makes them."""
    titles = [line.lstrip("#").strip() for _, line in lines_of(page) if line.startswith("#")]
    texts = [LINK.sub("]", title).lower() for title in titles]
    return {re.sub(r"[^\w\- ]", "", text).replace(" ", "-") for text in texts}


def faults_of(page):
    for number, line in lines_of(page):
        for link in LINK.findall(line):
            file, _, anchor = link.partition("#")
            target = page.parent / file if file else page
            if ":" in link:
                continue
            if not target.exists():
                yield f"{page.relative_to(ROOT)}:{number}: there is no {link}"
            elif anchor and anchor not in anchors(target):
                yield f"{page.relative_to(ROOT)}:{number}: there is no heading {link}"


class Links(unittest.TestCase):
    def test_lead_somewhere(self):
        pages = [*PAGES, ROOT / "bench" / "NOTES.md"]
        self.assertEqual([fault for page in pages for fault in faults_of(page)], [])

    def test_anchors_are_those_of_headings(self):
        found = anchors(ROOT / "docs" / "environment.md")
        self.assertIn("tilejit_no_toolkit", found)
        self.assertIn("where-nvrtc-is-searched-for", found)


if __name__ == "__main__":
    unittest.main()
