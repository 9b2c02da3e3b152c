"""editors/tl.tmLanguage.json: every word of the language has a scope, and lines of the examples fall
into the tokens that they should."""

import json
import re
import unittest

from console_blocks import ROOT

GRAMMAR = json.loads((ROOT / "editors" / "tl.tmLanguage.json").read_text())
PATTERNS = [(pattern["name"], re.compile(pattern["match"])) for pattern in GRAMMAR["patterns"]]
PLAIN = "variable.other.tl"


def tokens_of(line: str) -> list[tuple[str, str]]:
    """(text, scope without .tl) as an editor finds them: at each place the leftmost match, of several
    the first pattern's."""
    tokens, at = [], 0
    while True:
        found = [(m.start(), i, m) for i, (_, p) in enumerate(PATTERNS) if (m := p.search(line, at))]
        if not found:
            return tokens
        _, number, match = min(found)
        tokens.append((match.group(), PATTERNS[number][0].removesuffix(".tl")))
        at = match.end()


def words_of_the_language() -> set[str]:
    def table(path, pattern, text_of=r'"([A-Za-z_0-9]+)"'):
        body = re.search(pattern, (ROOT / path).read_text(), re.S).group(1)
        return set(re.findall(text_of, body))

    words = table("src/ops/program/tl_cursor.cpp", r"kWords\[\] = \{(.*?)\};")
    words |= set(re.findall(r'\{Tile\w+(?:::\w+)+, "(\w+)"\}',
                            (ROOT / "src/ops/program/words.hpp").read_text()))
    for name in ("kBuiltins", "kReductions", "kScans"):
        words |= table("src/expr/names.cpp", name + r"\[\] = \{(.*?)\n\};", r'\{"(\w+)"')
    words |= table("src/expr/names.cpp", r" kWords\[\] = \{(.*?)\};")
    return words


class Grammar(unittest.TestCase):
    def test_knows_every_word(self):
        words = words_of_the_language()
        self.assertGreater(len(words), 120)
        for word in sorted(words):
            with self.subTest(word):
                scopes = {tokens_of(text)[0] for text in (f"{word} x", f"{word}(x)")}
                self.assertTrue(any(text == word and scope != "variable.other"
                                    for text, scope in scopes), scopes)

    def test_finds_the_tokens_of_a_line(self):
        want = {
            "Tensor A : f16 [M, K] out  # comment": [
                ("Tensor", "keyword.other.header"), ("A", "variable.other"),
                (":", "keyword.operator"), ("f16", "storage.type.dtype"), ("M", "variable.other"),
                ("K", "variable.other"), ("out", "storage.modifier"),
                ("# comment", "comment.line.number-sign")],
            "Compute GEMM A, B.T and accumulate acc": [
                ("Compute", "keyword.other.statement"), ("GEMM", "keyword.other.statement"),
                ("A", "variable.other"), ("B", "variable.other"),
                (".T", "entity.other.transposed"), ("and", "keyword.other.clause"),
                ("accumulate", "keyword.other.clause"), ("acc", "variable.other")],
            "Let n = block_idx.x * 0.5e-3 + exp2(-inf)": [
                ("Let", "keyword.other.statement"), ("n", "variable.other"),
                ("=", "keyword.operator"), ("block_idx.x", "variable.language"),
                ("*", "keyword.operator"), ("0.5e-3", "constant.numeric"),
                ("+", "keyword.operator"), ("exp2", "support.function"),
                ("-inf", "constant.language")],
            'Print "x = {} # no comment", x  # one': [
                ("Print", "keyword.other.statement"),
                ('"x = {} # no comment"', "string.quoted.double"), ("x", "variable.other"),
                ("# one", "comment.line.number-sign")],
        }
        for line, tokens in want.items():
            with self.subTest(line):
                self.assertEqual(tokens_of(line), tokens)

    def test_words_of_the_examples_start_their_lines(self):
        for path in sorted((ROOT / "examples" / "programs").glob("*.tl")):
            for line in filter(None, map(str.strip, path.read_text().splitlines())):
                with self.subTest(f"{path.name}: {line}"):
                    self.assertRegex(tokens_of(line)[0][1], "^(keyword|comment)")


if __name__ == "__main__":
    unittest.main()
