"""tilejit layout: operations, pictures, batches, and the reaction to wrong input."""

import json
import re
import shlex
import unittest
from xml.etree import ElementTree

from support import ROOT, CommandTest, run

VECTORS = ROOT / "tests" / "data" / "layout"
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


class LayoutTest(CommandTest):
    def layout(self, *arguments, **options):
        return self.assert_ok("layout", *arguments, **options)

    def refused(self, message, *arguments, **options):
        result = self.assert_fails(2, message, "layout", *arguments, **options)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    def operations(self):
        """The names of the help's groups, without the pictures."""
        text = self.layout("--help").split("Layouts:")[1].split("Pictures:")[0]
        return re.findall(r"^  (\w+) +\S", text, re.MULTILINE)


class Operations(LayoutTest):
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
        ("TILER: expected", "flat_divide", "8:1", "-1"[1:] + "x"),
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
        ]
        for message, *arguments in cases:
            with self.subTest(arguments=arguments):
                self.refused(message, *arguments)


def deep(argument, levels):
    """A request with an argument of so many levels."""
    values = {"layout": "8:1", "tiler": 4, argument: 0}
    text = json.dumps({"op": "flat_divide", "in": values})
    return text.replace(f'"{argument}": 0', f'"{argument}": ' + "[" * levels + "]" * levels)


class Batch(LayoutTest):
    def batch(self, lines, code):
        result = self.run_command("layout", "--batch", stdin=lines)
        self.assertEqual(result.returncode, code, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def test_from_a_file_and_from_standard_input(self):
        line = '{"id":7,"op":"size","in":{"layout":"(4,2):(1,4)"}}\n'
        path = self.folder / "cases.jsonl"
        path.write_text(line)
        self.assertEqual(self.layout("--batch", path), '{"id":7,"out":8}\n')
        for arguments in (("--batch",), ("--batch", "-")):
            self.assertEqual(self.layout(*arguments, stdin=line), '{"id":7,"out":8}\n')
        self.refused("could not be read", "--batch", self.folder / "missing")
        self.refused("could not be read", "--batch", self.folder)
        self.refused("leave out the one given", "--batch", "-", "size", "8:1")

    def test_forms_of_arguments(self):
        text = '{"op":"%s","in":%s}\n'
        layout = '{"shape":[8,8],"stride":[8,1]}'
        cases = [
            ("size", '{"layout":%s}' % layout, 64),
            ("shape", '{"layout":"(8,8):(8,1)"}', [8, 8]),
            ("composition", '{"a":%s,"b":[2,null]}' % layout, "(2,8):(8,1)"),
            ("composition", '{"a":%s,"b":"<2,_>"}' % layout, "(2,8):(8,1)"),
            ("composition", '{"a":%s,"b":null}' % layout, "(8,8):(8,1)"),
            ("composition", '{"a":"(10,3):(1,100)","b":"6:4","as_cute":true}', "(3,2):(4,100)"),
            ("coalesce", '{"layout":%s,"profile":null}' % layout, "(8,8):(8,1)"),
        ]
        answers = self.batch("".join(text % case[:2] for case in cases), 0)
        for (*_, want), answer in zip(cases, answers, strict=True):
            out = answer["out"]
            self.assertEqual(out["text"] if isinstance(out, dict) else out, want)

    def test_malformed_lines_do_not_stop_it(self):
        good = '{"op":"rank","in":{"layout":"8:1"}}'
        bad = [
            ("nonsense", "not JSON at byte"),
            ("[1]", "not a JSON object"),
            ('{"op":"rank"}', '"op", a string, and "in"'),
            ('{"op":1,"in":{}}', '"op" takes a string'),
            ('{"op":"rnak","in":{}}', "did you mean 'rank'?"),
            ('{"op":"rank","in":{}}', "needs the argument 'layout'"),
            ('{"op":"rank","in":{"layout":"8:1","b":1}}', "has no argument 'b', it takes layout"),
            ('{"op":"rank","in":{"layout":"(8"}}', "layout: expected"),
            ('{"op":"rank","in":{"layout":7.5}}', "expected a layout"),
            ('{"op":"rank","in":{"layout":{"shape":-1,"stride":1}}}', "not negative"),
            ('{"op":"rank","in":{"layout":{"shape":1e300,"stride":1}}}', "an integer"),
            ('{"op":"rank","in":{"layout":{"shape":18446744073709551615,"stride":1}}}', "2^63-1"),
            ('{"op":"rank","in":{"layout":{"shape":[1],"stride":1}}}', "nested"),
            ('{"op":"rank","in":{"layout":{"shape":[[],2],"stride":[[],1]}}}', None),
            ('{"op":"mode","in":{"layout":"8:1","i":-1}}', "not negative"),
            ('{"op":"composition","in":{"a":"8:1","b":4,"as_cute":1}}', "true or false"),
            ('{"op":"flat_product","in":{"layout":"(M,2):(1,M)","tiler":2}}', "M"),
            (deep("tiler", 70), "64 levels of nesting"),
            (deep("tiler", 400000), "nests deeper than 128"),
            (deep("layout", 400000), "nests deeper than 128"),
            ('{"id":' + "[" * 400000 + "]" * 400000 + "}", "nests deeper than 128"),
            ("[" * 100000, "nests deeper than 128"),
        ]
        lines = "".join(f"{line}\n{good}\n\n" for line, _ in bad)
        answers = self.batch(lines, 1)
        self.assertEqual(answers[1::2], [{"out": 1}] * len(bad))
        for i, ((line, message), answer) in enumerate(zip(bad, answers[::2], strict=True)):
            if message is None:
                continue
            with self.subTest(line=line[:80]):
                self.assertEqual(answer["line"], 3 * i + 1)
                self.assertIn(message, answer["error"])

    def test_lines_that_are_not_utf_8(self):
        result = run("layout", "--batch", stdin=b'{"op":"r\xffank","in":{}}\n\xff\xfe\n')
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout.count(b"not JSON at byte"), 2)

    def test_long_lines_are_refused_and_passed_over(self):
        good = '{"op":"rank","in":{"layout":"8:1"}}'
        fits = good[:-1] + " " * ((1 << 20) - len(good)) + "}"
        answers = self.batch(f"{fits}\n{fits} \n{good}", 1)
        self.assertEqual(answers[0], {"out": 1})
        self.assertEqual(answers[1]["error"], "the line is longer than 1 MiB")
        self.assertEqual(answers[2], {"out": 1})

    def test_the_exit_code_and_the_count(self):
        result = self.run_command("layout", "--batch", stdin="x\n\n{}\n")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "tilejit: 2 of 3 lines have no answer\n")
        self.assertEqual(self.batch("", 0), [])


class Vectors(LayoutTest):
    """CuTe's own answers, through the batch."""

    LEFT_OUT = {"basis-stride", "negative-stride"}

    def request(self, operation, case):
        """One line of the batch; composition's inexact answers are asked for."""
        values = dict(case["in"])
        operation = values.pop("op", operation)
        if operation.startswith("composition") and "inexact" in case.get("tags", ()):
            values["as_cute"] = True
        return {"id": case["id"], "op": operation, "in": manipulated(values)}

    def cases(self, operation):
        document = json.loads((VECTORS / f"{operation}.json").read_text())
        return [c for c in document["cases"] if not self.LEFT_OUT & set(c.get("tags", ()))]

    def answers(self, requests):
        lines = "".join(json.dumps(request) + "\n" for request in requests)
        result = self.run_command("layout", "--batch", stdin=lines)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def test_are_reproduced(self):
        others = {"errors", "layout", "compare", "predicates", "max_common", "swizzle"}
        files = [path.stem for path in VECTORS.glob("*.json") if path.stem not in others]
        self.assertGreater(len(files), 30)
        for operation in sorted(files):
            cases = self.cases(operation)
            answers = self.answers([self.request(operation, case) for case in cases])
            for case, answer in zip(cases, answers, strict=True):
                with self.subTest(id=case["id"]):
                    self.assertEqual(answer, {"id": case["id"], "out": case["out"]})

    def asked_one_by_one(self, file, operations, inputs):
        """Files whose `out` has a member for each of several operations."""
        for case in self.cases(file):
            if not isinstance(case["out"], dict):
                continue
            values = {name: case["in"][name] for name in inputs}
            requests = [{"op": operation, "in": values} for operation in operations]
            for (operation, member), answer in zip(operations.items(), self.answers(requests)):
                with self.subTest(id=case["id"], operation=operation):
                    self.assertEqual(answer, {"out": case["out"][member]})

    def test_several_answers_of_one_case(self):
        same = lambda *names: dict(zip(names, names))
        self.asked_one_by_one("layout", same("size", "cosize", "rank", "depth"), ["layout"])
        less = same("lex_less", "colex_less", "elem_less")
        self.asked_one_by_one("compare", less, ["a", "b"])
        alike = same("compatible", "congruent", "weakly_congruent")
        self.asked_one_by_one("predicates", alike, ["a", "b"])
        common = {"max_common_vector": "vector", "max_common_layout": "layout"}
        self.asked_one_by_one("max_common", common, ["a", "b"])

    def test_evenly_divides(self):
        cases = [c for c in self.cases("predicates") if c["in"]["fn"] == "evenly_divides"]
        answers = self.answers([self.request("predicates", case) for case in cases])
        self.assertEqual([a["out"] for a in answers], [c["out"] for c in cases])

    def test_swizzles(self):
        cases = [c for c in self.cases("swizzle") if c["in"]["fn"] not in ("upcast", "downcast")]
        self.assertGreater(len(cases), 25)
        answers = self.answers([swizzle_request(dict(case["in"])) for case in cases])
        for case, answer in zip(cases, answers, strict=True):
            with self.subTest(id=case["id"]):
                name, want, got = case["in"]["fn"], case["out"], answer["out"]
                if name == "points":
                    got = [got[i] for i in case["in"]["indices"]]
                elif name in ("table", "compose"):
                    want = want["table" if name == "table" else "layout"]
                self.assertEqual(got, want)

    def test_what_cute_refuses_is_refused(self):
        cases = self.cases("errors")
        self.assertGreater(len(cases), 30)
        requests = [self.request("errors", case) for case in cases]
        for request in requests:
            if request["op"] == "swizzle":
                request.update(swizzle_request(dict(request["in"])))
        answers = self.answers(requests)
        for case, answer in zip(cases, answers, strict=True):
            with self.subTest(id=case["id"]):
                self.assertIn("error", answer)
                self.assertNotRegex(answer["error"], "no operation|needs the|has no argument")


def swizzle_request(values):
    """One case of swizzle.json, whose layout is in three members."""
    name = values.pop("fn")
    if name == "apply":
        return {"op": "swizzle", "in": values}
    composed = {key: values.pop(key) for key in ("swizzle", "offset", "layout")}
    values.pop("indices", None)
    operations = {"table": "index_table", "points": "index_table", "compose": "composition"}
    members = {"compose": "a", "tile_to_shape": "block", "layout_o_swizzled": "b"}
    values[members.get(name, "layout")] = composed
    return {"op": operations.get(name, name), "in": values}


def manipulated(values):
    """`args` of the manipulating operations, under the names they have here."""
    names = {
        "get": None,
        "select": None,
        "take": ("begin", "end"),
        "group": ("begin", "end"),
        "replace": ("i",),
        "append_rank": ("rank",),
        "prepend_rank": ("rank",),
    }
    if "args" not in values:
        return values
    values = dict(values)
    arguments = values.pop("args")
    name = values["fn"]
    if name in ("get", "select"):
        values["path" if name == "get" else "modes"] = arguments
    elif name in names:
        values.update(zip(names[name], arguments, strict=True))
    return values


if __name__ == "__main__":
    unittest.main()
