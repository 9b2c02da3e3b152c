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
        # Static integers are printed as CuTe C++ prints them.
        ("(_1,(_1,_2))", "idx2crd", "_16", "(3,(2,3))"),
        ("(_1,(1,2))", "idx2crd", "(_1,5)", "(3,(2,3))"),
        ("(_1,(1,_2))", "idx2crd", "(_1,(1,_2))", "(_3,(_2,_3))"),
        ("_17", "crd2idx", "_16", "(3,(2,3))", "(3,(12,1))"),
        ("17", "crd2idx", "(_1,5)", "(3,(2,3))", "(3,(12,1))"),
        ("12:1", "coalesce", "(_2,(_1,_6)):(_1,(_6,_2))"),
        # Symbols in coordinates.
        ("i*N + j", "index", "(M,N):(N,1)", "(i,j)"),
        ("N + 2", "index", "(M,N):(N,1)", "(1,2)"),
        ("(i%3,(i//3%2,i//6))", "idx2crd", "i", "(3,(2,3))"),
        ("i*3 + 13", "crd2idx", "(i,(1,1))", "(3,(2,3))", "(3,(12,1))"),
        ("i*2*N + j", "crd2idx", "(i,j)", "(M,N)", "(2*N,1)"),
        (
            "(16,256):(512,1) at offset b%16*8192 + b//16*256",
            "slice",
            "((_,_),b)",
            "((16,256),(16,2)):((512,1),(8192,256))",
        ),
        ("(8):(1) at offset t%(4*M)*N + t//(4*M)", "slice", "(t,_)", "((4,M,2),8):((N,4*N,1),1)"),
        # Steps of coordinates.
        ("(4,2):(1@0,1@1)", "coalesce", "(4,2):(1@0,1@1)"),
        ("(4,(2,3)):(1@0,(1@0@1,1@1@1))", "make_identity_tensor", "(4,(2,3))"),
        (
            "((16,256),(16,2)):((1@0,1@1),(16@0,256@1))",
            "zipped_divide",
            "(256,512):(1@0,1@1)",
            "(16,256)",
        ),
        ("(1,(1,1))", "index", "(4,(2,3)):(1@0,(1@0@1,1@1@1))", "13"),
        ("(i,0)", "index", "(4,1):(1@0,1@1)", "(i,0)"),
        (
            "((8,4)):((1@1,1@0)) at offset (t//32*4,t%32*8)",
            "slice",
            "(t,_)",
            "((32,4),(8,4)):((8@1,4@0),(1@1,1@0))",
        ),
        # Plain tuples, and modes at the end of a path.
        ("(3,7)", "select", "(2,3,5,7)", "(1,3)"),
        ("(3,7):(2,30)", "select", "(2,3,5,7):(1,2,6,30)", "(1,3)"),
        ("3", "get", "(4,(3,6))", "(1,0)"),
        ("18", "size", "(4,(3,6)):(1,(4,12))", "1"),
        ("2", "rank", "(4,(3,6)):(1,(4,12))", "1"),
        # Like CuTe's DSL and its ceil_div of a shape by a layout.
        ("((3,(3))):((1,(3)))", "blocked_product", "3:1", "(3):(1)"),
        ("((3,3)):((1,3))", "blocked_product", "(3):(1)", "(3):(1)"),
        ("(3,(3)):(1,(3))", "logical_product", "3:1", "(3):(1)"),
        ("false", "evenly_divides", "(8,9,4)", "3:1"),
        ("true", "evenly_divides", "(8,9,4)", "4:1"),
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
        ("product_each takes no further '4'", "product_each", "(2,3)", "4"),
        ("(4,3) has no mode 5", "get", "(4,3)", "5"),
        ("the coordinate 4 is outside of 4:1@0", "index", "(4,2):(1@0,1@1)", "(4,1)"),
        ("complement needs strides in memory, found 4:1@0", "complement", "4:1@0", "8"),
        ("1@0 is a step of a coordinate, which has no number", "cosize", "(4,2):(1@0,1@1)"),
        ("the extent 4@0 is a step of a coordinate", "size", "4@0:1"),
        ("takes numbers here, found the symbol i", "index", "Sw<2,0,2> o 0 o (4,4):(4,1)", "(i,1)"),
        ("has 3 modes, but (4,2):(1,4) takes 2", "index", "(4,2):(1,4)", "(i,1,2)"),
        ("give each mode a coordinate of its own", "index", "(M,2):(2,1)", "3"),
        ("leaves no mode", "slice", "(i,1)", "(4,2):(1,4)"),
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

    def fills(self, *arguments):
        """The colours of each row's cells."""
        root = self.svg(*arguments)
        rows = {}
        for cell in self.cells(root):
            rows.setdefault(float(cell.get("y")), []).append(cell.get("fill"))
        return [rows[y] for y in sorted(rows)]

    def test_swizzles_are_coloured_by_chunk(self):
        """The 8 elements of a chunk have one colour, and a column of chunks has all 8."""
        rows = self.fills("show", "Sw<3,3,3> o 0 o (8,64):(64,1)", "--all")
        self.assertEqual([len(row) for row in rows], [64] * 8)
        for row in rows:
            self.assertEqual(len(set(row)), 8)
            for chunk in range(0, 64, 8):
                self.assertEqual(len(set(row[chunk : chunk + 8])), 1)
        for column in zip(*rows):
            self.assertEqual(len(set(column)), 8)
        by_bytes = self.fills(
            "show", "Sw<3,3,3> o 0 o (8,64):(64,1)", "--all", "--colour", "chunk", "--bytes", 2
        )
        self.assertEqual(rows, by_bytes)

    def test_banks(self):
        column = [row[0] for row in self.fills("show", "(16,32):(32,1)", "--colour", "bank", "--bytes", 4)]
        self.assertEqual(len(set(column)), 1)
        column = [
            row[0]
            for row in self.fills(
                "show", "Sw<4,0,5> o 0 o (16,32):(32,1)", "--color", "bank", "--bytes", "4"
            )
        ]
        self.assertEqual(len(set(column)), 16)

    def test_large_pictures_join_what_follows(self):
        texts = self.texts(self.svg("show", "Sw<3,3,3> o 0 o (8,64):(64,1)"))
        self.assertEqual(texts.count("8-15"), 2)  # a label and a cell
        self.assertIn("colours: the chunk of 8 elements, by its number modulo 8", texts)
        root = self.svg("tv", "((32,4),(8,4)):((128,4),(16,1))", "--tile", "(16,256)")
        self.assertEqual(len(self.cells(root)), 16 * 32)
        self.assertEqual(self.texts(root).count("V0-7"), 128)
        self.assertLess(float(root.get("width")), 1700)
        # Values that follow each other along a column.
        root = self.svg("tv", "(64,8):(8,1)", "--tile", "(64,8)")
        self.assertEqual(len(self.cells(root)), 8 * 8)
        self.assertEqual(self.texts(root).count("V0-7"), 64)
        root = self.svg("tv", "((32,4),(8,4)):((128,4),(16,1))", "--tile", "(16,256)", "--all")
        self.assertEqual(len(self.cells(root)), 16 * 256)

    def marks(self, *arguments):
        lines = self.svg(*arguments).iter(SVG + "line")
        return sorted(float(line.get("stroke-width")) for line in lines if line.get("class") == "mark")

    def test_nested_modes_are_marked(self):
        self.assertEqual(self.marks("show", "(4,8):(8,1)"), [])
        self.assertEqual(self.marks("show", "((2,2),8):((8,16),1)"), [3.0])
        # Wider gaps after every second column, and wider still after the fourth.
        self.assertEqual(self.marks("show", "(2,(2,2,2)):(8,(1,2,4))"), [3.0, 3.0, 4.5])
        self.assertEqual(self.marks("tv", TV, "--tile", "((2,2),8)"), [3.0])
        texts = self.texts(self.svg("show", "(2,(2,4)):(8,(1,2))"))
        self.assertEqual([texts.count(str(i)) for i in range(4)], [8, 8, 3, 3])
        latex = self.layout("show", "((2,2),8):((8,16),1)", "--latex", "-")
        self.assertIn("\\draw[line width=2pt,shift={(-0.5,-0.5)}] (2,0) -- (2,8);", latex)

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

    def test_large_tables_lack_their_middle(self):
        # The tile of the elementwise kernels' last step, which used to be refused.
        tv = "((64,4),(8,16)):((512,16),(64,1))"
        lines = self.layout("tv", tv, "--tile", "(64,512)").splitlines()
        self.assertEqual(len(lines), 3 + 2 * 33)
        labels = lines[1].split()
        self.assertEqual(labels[14:19], ["14", "15", "...", "496", "497"])
        self.assertEqual((len(labels), labels[-1]), (33, "511"))
        self.assertIn("|     T0 V0 |     T0 V1 |", lines[3])
        self.assertEqual(set(lines[3 + 2 * 16].replace("|", " ").split()), {"..."})
        self.assertTrue(lines[-2].endswith("| T255 V126 | T255 V127 |"))
        inverse = self.layout("tv", tv, "--tile", "(64,512)", "--inverse").splitlines()
        self.assertEqual((len(inverse), inverse[-1]), (64 * 512, "(63,511) -> (255,127)"))
        table = self.layout("show", "(200,200):(1,200)").splitlines()
        self.assertEqual(table[1].split()[15:18], ["15", "...", "184"])
        self.assertTrue(table[-2].endswith("| 39999 |"))
        svg = ElementTree.fromstring(self.layout("show", "(64,512):(512,1)", "--svg", "-"))
        self.assertEqual(len(svg.findall(SVG + "rect[@class='cell']")), 25 * 25)
        self.assertIn(
            "\\node at (12,-1) {\\texttt{...}};",
            self.layout("show", "(64,512):(512,1)", "--latex", "-"),
        )

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
            ("a tile has at most 1048576", "tv", "(1,1):(0,0)", "--tile", "(4096,4096)"),
            ("needs known extents", "show", "(M,2):(1,M)"),
            ("has no elements to draw", "show", "(0,2):(1,2)"),
            ("--colour bank needs the size of an element", "show", "8:1", "--colour", "bank"),
            ("--colour chunk needs the size", "show", "8:1", "--colour", "chunk"),
            ("'banks' is not one of index, chunk, bank; did you mean 'bank'?", "show", "8:1", "--colour", "banks"),
            ("'3' is not one of 1, 2, 4, 8, 16", "show", "8:1", "--bytes", "3"),
            ("--all", "tv", TV, "--tile", "(4,8)", "--inverse", "--all"),
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
