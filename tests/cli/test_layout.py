"""tilejit layout: operations, pictures, and the reaction to wrong input."""

import json
import re
import shlex
import unittest
from xml.etree import ElementTree

from support import LayoutTest

TABLE = """(2,3):(3,1)
      0   1   2 
    +---+---+---+
 0  | 0 | 1 | 2 |
    +---+---+---+
 1  | 3 | 4 | 5 |
    +---+---+---+
"""
NESTED_TABLE = """(8,(2,2)):(2,(1,16))
       0    1    2    3 
    +----+----+----+----+
 0  |  0 |  1 | 16 | 17 |
    +----+----+----+----+
 1  |  2 |  3 | 18 | 19 |
    +----+----+----+----+
 2  |  4 |  5 | 20 | 21 |
    +----+----+----+----+
 3  |  6 |  7 | 22 | 23 |
    +----+----+----+----+
 4  |  8 |  9 | 24 | 25 |
    +----+----+----+----+
 5  | 10 | 11 | 26 | 27 |
    +----+----+----+----+
 6  | 12 | 13 | 28 | 29 |
    +----+----+----+----+
 7  | 14 | 15 | 30 | 31 |
    +----+----+----+----+
"""
SVG = "{http://www.w3.org/2000/svg}"
TV = "((2,4),(2,2)):((8,1),(4,16))"


class Operations(LayoutTest):
    def operations(self):
        """The names of the help's groups, without the pictures."""
        text = self.layout("--help").split("Layouts:")[1].split("Pictures:")[0]
        return re.findall(r"^  (\w+) +\S", text, re.MULTILINE)

    CASES = [
        ("((2,2),3):((24,2),8)", "composition", "(6,2):(8,2)", "(4,3):(3,1)"),
        ("(5,(2,2)):(16,(80,4))", "composition", "(10,2):(16,4)", "(5,4):(1,5)"),
        ("(3,(4,2)):(59,(13,1))", "composition", "(12,(4,8)):(59,(13,1))", "(3,8)"),
        ("(3,2):(4,100)", "composition", "(10,3):(1,100)", "6:4", "--as-cute"),
        ("12:1", "coalesce", "(2,(1,6)):(1,(6,2))"),
        ("(2,6):(1,2)", "coalesce", "(2,(1,6)):(1,(6,2))", "(1,1)"),
        ("(24,6):(4,2)", "coalesce", "((2,(3,4)),(3,2),1):((4,(8,24)),(2,6),12)"),
        ("(3,2):(2,12)", "complement", "(2,2):(1,6)", "24"),
        ("((2,2),(2,3)):((4,1),(2,8))", "logical_divide", "(4,2,3):(2,1,8)", "4:2"),
        ("((2,4),8):((8,16),1)", "logical_divide", "(8,8):(8,1)", "(2,_)"),
        ("((2,4),8):((8,16),1)", "logical_divide", "(8,8):(8,1)", "< 2:1 , _ >"),
        (
            "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))",
            "zipped_divide",
            "(9,(4,8)):(59,(13,1))",
            "<3:3,(2,4):(1,8)>",
        ),
        ("((1,4),(2048,512)):((0,1),(2048,4))", "zipped_divide", "(2048,2048):(2048,1)", "(1,4)"),
        ("((2,2),(2,3)):((4,1),(2,8))", "logical_product", "(2,2):(4,1)", "6:1"),
        ("((2,3),(5,4)):((5,10),(1,30))", "blocked_product", "(2,5):(5,1)", "(3,4):(1,3)"),
        ("((3,2),(4,5)):((10,5),(30,1))", "raked_product", "(2,5):(5,1)", "(3,4):(1,3)"),
        ("(8,4):(4,1)", "right_inverse", "(4,8):(8,1)"),
        ("24", "size", "(4,(2,3)):(1,(4,8))"),
        ("(2,3):(4,8)", "mode", "(4,(2,3)):(1,(4,8))", "1"),
        ("17", "index", "(3,(2,3)):(3,(12,1))", "(1,(1,2))"),
        ("17", "crd2idx", "16", "(3,(2,3))", "(3,(12,1))"),
        ("(1,(1,2))", "idx2crd", "16", "(3,(2,3))"),
        ("(1,(1,2))", "idx2crd", "(1,5)", "(3,(2,3))"),
        ("0 2 4 6 1 3 5 7", "index_table", "(4,2):(2,1)"),
        ("(4):(4) at offset 113", "slice", "(1,(1,_,3))", "(2,(4,4,7)):(16,(1,4,32))"),
        ("(4,64):(64,1)", "make_ordered_layout", "(4,64)", "(1,0)"),
        ("(4,(2,3)):(6,(3,1))", "make_layout", "(4,(2,3))", "right"),
        ("(3,4):(1,3)", "concat", "<3:1,4:3>"),
        ("(1,1,3)", "shape_div", "(4,5,6)", "40"),
        ("true", "compatible", "(4,6)", "(4,(2,3))"),
        ("(16,32):(32,1)", "recast_layout", "(16,256):(256,1)", "4", "32"),
        ("13 116 190", "swizzle", "Sw<3,0,3>", "(12,114,185)"),
        ("undecided", "is_injective", "(4,4):(M,1)"),
        ("wavefronts 32, without conflicts 1", "bank_conflicts", "(32,1):(1,0)", "32:32", "4", "4"),
    ]

    def test_answers(self):
        for answer, *arguments in self.CASES:
            with self.subTest(arguments=arguments):
                self.assertEqual(self.layout(*arguments), answer + "\n")

    def test_every_example_of_the_help_runs(self):
        names = self.operations()
        self.assertGreater(len(names), 20)
        for name in names:
            with self.subTest(name=name):
                text = self.layout(name, "--help")
                (line,) = re.findall(rf"^  tilejit layout {name} (.*)$", text, re.MULTILINE)
                arguments = shlex.split(line)
                answer = json.loads(self.layout(name, *arguments, "--json"))
                self.assertEqual(answer["op"], name)
                self.assertNotEqual(self.layout(name, *arguments), "\n")

    def test_json(self):
        answer = json.loads(self.layout("composition", "(4,3):(3,1)", "2:3", "--json"))
        out = {"shape": 2, "stride": 9, "text": "2:9"}
        self.assertEqual(answer, {"op": "composition", "out": out})
        symbolic = json.loads(self.layout("shape", "(M,4):(4,1)", "--json"))
        self.assertEqual(symbolic["out"], ["M", 4])


class WrongInput(LayoutTest):
    CASES = [
        ("did you mean 'composition'?", "compositoin", "8:1", "4:1"),
        ("there is no command 'frobnicate'; tilejit layout --help", "frobnicate"),
        ("needs an operation or --batch",),
        ("B is required", "composition", "8:1"),
        ("not expected", "size", "8:1", "8:1"),
        ("LAYOUT: expected ',' or ')', found the end at position 4 of '(2,3'", "size", "(2,3"),
        ("found ')' at position 3", "size", "2:1)"),
        ("expected", "size", ""),
        ("TILER: expected ',' or '>', found ')' at position 4", "flat_divide", "8:1", "<2,3)"),
        ("TILER: expected ',' or '>', found the end", "flat_divide", "8:1", "<2,3"),
        ("found '>' at position 3 of '<2,>'", "flat_divide", "8:1", "<2,>"),
        ("of '2:1:2'", "flat_divide", "8:1", "<2:1:2>"),
        ("TILER: 'M' is not a known integer", "flat_divide", "8:1", "M"),
        ("TILER: expected", "flat_divide", "8:1", ""),
        ("TILER: expected", "flat_divide", "8:1", "1x"),
        ("tiler has 3 modes", "flat_divide", "(8,8):(8,1)", "(2,2,2)"),
        ("has 2 modes, and no mode 5", "mode", "(2,3):(1,2)", "5"),
        ("2^63-1", "size", "99999999999999999999:1"),
        ("2^63-1", "flat_divide", "8:1", "99999999999999999999"),
        ("2^63-1", "size", "(4611686018427387904,4):(0,0)"),
        ("64 levels of nesting", "size", "(" * 100000),
        ("64 levels of nesting", "flat_divide", "8:1", "(" * 100000),
        ("64 levels of nesting", "flat_divide", "8:1", "<" * 60000 + ">" * 60000),
        ("at most 64 modes", "flat_divide", "8:1", "(" + "1," * 64 + "1)"),
        ("unprintable byte", "size", "\N{SNOWMAN}"),
        ("unprintable byte", "flat_divide", "8:1", "<\N{SNOWMAN}>"),
        ("ask for CuTe's answer", "composition", "(10,3):(1,100)", "6:4"),
        ("LAYOUT: expected an integer, a symbol or '?', found '_'", "size", "(4,_):(1,4)"),
        ("ORDER: an order is left, right or known integers", "make_layout", "(4,2)", "Right"),
        ("START goes with left or right", "make_layout", "(4,2)", "(1,0)", "5"),
        ("ask for CuTe's answer", "composition", "(10,3):(1,100)", "6:4", "--as-cute=false"),
        ("there is no command '?[31mred'", "\x1b[31mred"),
        ("there is no command '" + "x" * 64 + "'", "x" * 100000),
        ("lists up to 65536 indices", "index_table", "100000:1"),
        ("lists up to 65536 indices", "index_table", "M:1"),
        ("up to 16 bytes", "bank_conflicts", "(32,1):(1,0)", "32:32", "99999999999", "4"),
    ]

    def test_refusals(self):
        for message, *arguments in self.CASES:
            with self.subTest(arguments=[argument[:40] for argument in arguments]):
                self.refused(message, *arguments)

    def test_bytes_that_are_not_utf_8(self):
        self.refused("unprintable byte", "size", b"(2,\xff)".decode("utf-8", "surrogateescape"))


class Pictures(LayoutTest):
    def test_tables_are_those_of_print_layout(self):
        self.assertEqual(self.layout("show", "(2,3):(3,1)"), TABLE)
        self.assertEqual(self.layout("show", "(8,(2,2)):(2,(1,16))"), NESTED_TABLE)
        self.assertEqual(
            self.layout("show", "((2,2),2):((4,2),1)").splitlines()[3::2],
            [" 0  | 0 | 1 |", " 1  | 4 | 5 |", " 2  | 2 | 3 |", " 3  | 6 | 7 |"],
        )

    def test_rank_1_is_a_column(self):
        rows = self.layout("show", "3:2").splitlines()
        self.assertEqual(rows[0], "3:2")
        self.assertEqual(rows[3::2], [" 0  | 0 |", " 1  | 2 |", " 2  | 4 |"])

    def test_wide_tables_keep_their_columns(self):
        for layout in ("(2,101):(0,0)", "(101,2):(1,101)"):
            with self.subTest(layout=layout):
                lines = self.layout("show", layout).splitlines()[1:]
                self.assertEqual(len({len(line.rstrip("+|").rstrip()) for line in lines[1::2]}), 1)

    def svg(self, *arguments):
        path = self.folder / "picture.svg"
        self.assertEqual(self.layout(*arguments, "--svg", path), "")
        self.assertEqual(self.layout(*arguments, "--svg", "-"), path.read_text())
        return ElementTree.parse(path).getroot()

    def cells(self, root):
        return [rect for rect in root.iter(SVG + "rect") if rect.get("class") == "cell"]

    def texts(self, root):
        return [text.text for text in root.iter(SVG + "text")]

    def test_svg(self):
        root = self.svg("show", "(8,(4,2)):(2,(1,16))")
        self.assertEqual(len(self.cells(root)), 64)
        self.assertEqual(root.find(SVG + "title").text, "(8,(4,2)):(2,(1,16))")
        self.assertEqual(self.texts(root)[0], "(8,(4,2)):(2,(1,16))")
        self.assertEqual(len({cell.get("fill") for cell in self.cells(root)}), 8)
        root = self.svg("tv", TV, "--tile", "(4,8)")
        self.assertEqual(len(self.cells(root)), 32)
        self.assertEqual(len({cell.get("fill") for cell in self.cells(root)}), 8)
        self.assertEqual(self.texts(root).count("T3"), 4)

    def test_latex(self):
        text = self.layout("show", "(2,3):(3,1)", "--latex", "-")
        self.assertTrue(text.startswith("% (2,3):(3,1)\n\\documentclass"))
        self.assertEqual(text.count("\\node[fill="), 6)
        self.assertEqual(text.count("{"), text.count("}"))
        text = self.layout("tv", TV, "--tile", "(4,8)", "--latex", "-")
        self.assertEqual(text.count("\\node[fill="), 32)
        self.assertIn("{T0\\\\V0}", text)

    def test_tv(self):
        lines = self.layout("tv", TV, "--tile", "(4,8)").splitlines()
        self.assertEqual(lines[0], f"{TV} over (4,8)")
        self.assertTrue(lines[3].startswith(" 0  | T0 V0 | T0 V1 | T1 V0 | T1 V1 | T0 V2 |"))
        self.assertTrue(lines[9].startswith(" 3  | T6 V0 | T6 V1 | T7 V0 |"))

    def test_tv_inverse(self):
        lines = self.layout("tv", TV, "--tile", "(4,8)", "--inverse").splitlines()
        self.assertEqual(len(lines), 32)
        self.assertEqual(lines[0], "(0,0) -> (0,0)")
        self.assertEqual(lines[-1], "(3,7) -> (7,3)")

    def test_tv_with_shared_and_empty_cells(self):
        text = self.layout("tv", "(2,2):(0,1)", "--tile", "(3,1)")
        self.assertEqual(
            [line.rstrip() for line in text.splitlines()[3::2]],
            [" 0  | T0 V0+1 |", " 1  | T0 V1+1 |", " 2  |         |"],
        )
        text = self.layout("tv", "(2,2):(0,1)", "--tile", "3", "--inverse")
        self.assertEqual(
            text, "(0,0) -> (0,0) (1,0)\n(1,0) -> (0,1) (1,1)\n(2,0) -> none\n"
        )

    def test_refusals(self):
        cases = [
            ("group its modes, as in ((2,2),2):((1,2),4)", "show", "(2,2,2):(1,2,4)"),
            ("16384 cells are the most", "show", "(200,200):(1,200)"),
            ("needs known extents", "show", "(M,2):(1,M)"),
            ("has no elements to draw", "show", "(0,2):(1,2)"),
            ("--tile is required", "tv", TV),
            ("beyond the 16 elements of --tile (2,8)", "tv", TV, "--tile", "(2,8)"),
            ("a TV layout has two modes", "tv", "8:1", "--tile", "(2,4)"),
            ("takes rank 1 or 2", "tv", TV, "--tile", "(2,4,4)"),
            ("takes numbers", "tv", TV, "--tile", "(M,4)"),
            ("--inverse", "tv", TV, "--tile", "(4,8)", "--inverse", "--svg", "-"),
            ("--svg and --latex both write -", "show", "8:1", "--svg", "-", "--latex", "-"),
            ("takes a file or -, got '--latex'", "show", "8:1", "--svg", "--latex"),
            ("takes its operations from the file", "--batch=-", "show", "8:1"),
        ]
        for message, *arguments in cases:
            with self.subTest(arguments=arguments):
                self.refused(message, *arguments)


if __name__ == "__main__":
    unittest.main()
