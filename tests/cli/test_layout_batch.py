"""tilejit layout --batch: forms of requests, wrong lines, and CuTe's own answers."""

import json
import unittest

from support import ROOT, LayoutTest, run

VECTORS = ROOT / "tests" / "data" / "layout"


def deep(argument, levels):
    """A request with an argument of that many levels."""
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
            ("select", '{"layout":[2,3,5],"modes":[0,2]}', [2, 5]),
            ("select", '{"layout":%s,"modes":[1]}' % layout, "(8):(1)"),
            ("get", '{"layout":"(4,(3,6))","path":[1,0]}', 3),
            ("index", '{"layout":%s,"coord":[1,2]}' % layout, 10),
            ("index", '{"layout":%s,"coord":"(i,2)"}' % layout, "i*8 + 2"),
            ("idx2crd", '{"index":"_16","shape":[3,[2,3]]}', [1, [1, 2]]),
            ("size", '{"layout":%s,"path":1}' % layout, 8),
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
            ('{"op":"rank","in":{"layout":{"shape":[[],2],"stride":[[],1]}}}', "one mode"),
            ('{"op":"composition","in":{"a":{"shape":[],"stride":[]},"b":4}}', "one mode"),
            ('{"op":"make_layout","in":{"shape":[' + "1," * 70 + "1]}}", "at most 64 modes"),
            ('{"id":1e400,"op":"rank","in":{"layout":"8:1"}}', "beyond what a double holds"),
            ('{"op":"mode","in":{"layout":"8:1","i":-1}}', "not negative"),
            ('{"op":"composition","in":{"a":"8:1","b":4,"as_cute":1}}', "true or false"),
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

    LEFT_OUT = {"negative-stride"}

    def request(self, operation, case):
        """One line of the batch; it asks for composition's inexact answers too."""
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
        others = {"errors", "layout", "compare", "predicates", "max_common", "swizzle", "unknown"}
        files = [path.stem for path in VECTORS.glob("*.json") if path.stem not in others]
        self.assertGreater(len(files), 30)
        for operation in sorted(files):
            cases = self.cases(operation)
            answers = self.answers([self.request(operation, case) for case in cases])
            for case, answer in zip(cases, answers, strict=True):
                with self.subTest(id=case["id"]):
                    self.assertEqual(answer, {"id": case["id"], "out": case["out"]})

    def asked_one_by_one(self, file, operations, inputs):
        """Files whose `out` has a member per operation."""
        for case in self.cases(file):
            if not isinstance(case["out"], dict):
                continue
            values = {name: case["in"][name] for name in inputs}
            requests = [{"op": operation, "in": values} for operation in operations]
            for (operation, member), answer in zip(
                operations.items(), self.answers(requests), strict=True
            ):
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

    def test_unknown_leaves(self):
        cases = self.cases("unknown")
        requests = [{"op": case["op"], "in": dict(case["in"])} for case in cases]
        for request in requests:
            if request["op"].startswith("composition"):
                request["in"]["as_cute"] = True
        answers = self.answers(requests)
        for case, answer in zip(cases, answers, strict=True):
            with self.subTest(case=case):
                self.assertEqual(answer["out"]["text"], case["out"]["text"])

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
    """One case of swizzle.json, whose layout is split over three members."""
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
    """The `args` of the manipulating operations, under the names that they have here."""
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
