"""bench: what it prints about a run, comparison, wrong command lines; real runs if there is a
GPU."""

import csv
import io
import json
import unittest
import xml.etree.ElementTree

from bench_run import row, run, sweep
from support import ROOT, SPECS, CommandTest
from support import run as run_command

DOCTOR = json.loads(run_command("doctor", "--json").stdout)
HAVE_GPU = bool(DOCTOR["driver"].get("devices"))
ADD = SPECS / "vector_add.json"
SYMBOLIC = SPECS / "symbolic.json"
GALLERY = ROOT / "docs" / "gallery"

TABLE = """\
Some GPU (sm_90a), timed in a stream, L2 cold
kernel   M       us    +- %   p90 us  samples  GB/s  % copy  % read  TFLOP/s  occ %  KB in flight
add      8     1.00    0.10     1.00       50  1049    36.2    33.8    0.524    100      65.5/7.7
softmax     1000.00  2.00 !  1000.00       50     1     0.0     0.0  0.00052    100      65.5/7.7
!: noisy, the median's 95 % confidence interval is wider than asked for
some workspaces do not exceed the L2 cache twice: their data may have stayed in it
"""


class Bench(CommandTest):
    def write(self, document, name="run.json"):
        path = self.folder / name
        path.write_text(json.dumps(document))
        return path


class Shown(Bench):
    """Shows an earlier run, which needs no GPU."""

    def two_rows(self):
        return self.write(
            run(
                row("add", {"M": "8"}, 0.001),
                row("softmax", {}, 1.0, operations=520000, error=0.02, cold=False),
            )
        )

    def test_table(self):
        self.assertEqual(self.assert_ok("bench", "--load", self.two_rows()), TABLE)

    def test_products_show_their_part_of_the_peak(self):
        made = row("product", {}, 1.0, operations=3 * 10**11, peak_teraflops=600.0)
        file = self.write(run(made, row("add", {}, 0.001)))
        head, *rows = self.assert_ok("bench", "--load", file).splitlines()[1:]
        column = slice(head.index("% peak"), head.index("% peak") + len("% peak"))
        self.assertEqual([line[column].strip() for line in rows], ["50.0", ""])
        shown = json.loads(self.assert_ok("bench", "--load", file, "--json"))["rows"]
        self.assertEqual([one["percent_of_peak"] for one in shown], [50.0, 0.0])

    def test_csv(self):
        text = self.assert_ok("bench", "--load", self.two_rows(), "--csv", "-")
        first, second = csv.DictReader(io.StringIO(text))
        self.assertEqual(first["kernel"], "add")
        self.assertEqual(first["M"], "8")
        self.assertEqual(second["M"], "")
        self.assertEqual(float(first["median_us"]), 1.0)
        self.assertEqual(int(first["bytes"]), 1 << 20)
        self.assertEqual((first["noisy"], second["noisy"]), ("0", "1"))
        self.assertAlmostEqual(float(first["gigabytes_per_second"]), 1048.58)
        self.assertNotIn(None, first)

    def test_csv_quotes(self):
        path = self.write(run(row('a,"b"', {}, 1.0)))
        (read,) = csv.DictReader(io.StringIO(self.assert_ok("bench", "--load", path, "--csv", "-")))
        self.assertEqual(read["kernel"], 'a,"b"')

    def test_json_is_what_was_read(self):
        document = sweep()
        shown = self.assert_json("bench", "--load", self.write(document), "--json")
        again = self.assert_json("bench", "--load", self.write(shown), "--json")
        self.assertEqual(shown, again)
        for before, after in zip(document["rows"], shown["rows"], strict=True):
            self.assertEqual({**after, **before}, after)
            speed = after["bytes"] / after["time"]["median_ms"] / 1e6
            self.assertAlmostEqual(after["gigabytes_per_second"], speed)
            self.assertAlmostEqual(after["percent_of_copy"], 100 * speed / 2900)

    def test_from_standard_input(self):
        text = self.assert_ok("bench", "--load", "-", stdin=json.dumps(run(row("add", {}, 0.001))))
        self.assertIn("add", text)

    def test_refuses_other_files(self):
        broken = row("add", {}, 0.001)
        del broken["time"]["median_ms"]
        cases = [
            ("{", "no document that tilejit bench --json wrote"),
            ("[]", "no document that tilejit bench --json wrote"),
            (json.dumps(run(tilejit_bench=2)), "its version is not 1"),
            (json.dumps(run(broken)), "median_ms"),
            (json.dumps(run(timed_in="tube")), "timed_in is neither stream nor graph"),
        ]
        for text, message in cases:
            with self.subTest(text=text[:40]):
                path = self.folder / "bad.json"
                path.write_text(text)
                self.assert_fails(2, message, "bench", "--load", path)
        self.assert_fails(2, "missing.json", "bench", "--load", self.folder / "missing.json")


class Plot(Bench):
    def svg(self, document):
        path = self.folder / "plot.svg"
        self.assert_ok("bench", "--load", self.write(document), "--plot", path)
        return path.read_text()

    def texts(self, document):
        root = xml.etree.ElementTree.fromstring(self.svg(document))
        return [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]

    def test_sweep_is_that_of_the_gallery(self):
        self.assertEqual(self.svg(sweep()), (GALLERY / "sweep.svg").read_text())

    def test_is_labelled(self):
        texts = self.texts(sweep())
        for label in ("softmax", "M", "GB/s", "f16", "f32", "copy", "1Ki", "16Ki", "1Mi", "3000"):
            self.assertIn(label, texts)

    def ticks(self, *sizes):
        """The text below the axis."""
        root = xml.etree.ElementTree.fromstring(
            self.svg(run(*(row("add", {"M": str(size)}, 1.0) for size in sizes)))
        )
        texts = root.iter("{http://www.w3.org/2000/svg}text")
        return [text.text for text in texts if text.get("y") == "458"]

    def test_an_axis_has_one_way_of_ticks(self):
        self.assertEqual(self.ticks(1024, 16384, 1 << 20), ["1Ki", "16Ki", "1Mi"])
        self.assertEqual(self.ticks(512, 4096, 32768), ["512", "4096", "32768"])
        self.assertEqual(self.ticks(1000, 16384), ["1000", "16384"])
        self.assertEqual(self.ticks(1536, 3072), ["1536", "3072"])
        self.assertEqual(self.ticks(0, 1024), ["0", "1024"])

    def test_names_kernels_and_escapes(self):
        texts = self.texts(
            run(*(row(name, {"M": m}, 1.0) for name in ("a<b", "c&d") for m in ("1", "2")))
        )
        self.assertIn("a<b", texts)
        self.assertIn("c&d", texts)
        self.assertIn("a<b, c&d", texts)

    def test_of_dtypes_has_their_names(self):
        texts = self.texts(run(*(row("add", {"dtype": d}, 1.0) for d in ("f16", "f32", "f64"))))
        for label in ("f16", "f32", "f64", "dtype", "add"):
            self.assertIn(label, texts)

    def test_many_lines_stay_within_the_picture(self):
        rows = [row("k", {"M": m, "N": str(n)}, 1.0) for m in ("1", "2") for n in range(19)]
        root = xml.etree.ElementTree.fromstring(self.svg(run(*rows)))
        for element in root.iter("{http://www.w3.org/2000/svg}text"):
            self.assertLessEqual(float(element.get("y")), 500)
            self.assertGreaterEqual(float(element.get("y")), 0)
        rows += [row("k", {"M": "1", "N": "99"}, 1.0)]
        path = self.write(run(*rows))
        self.assert_fails(2, "a plot of 21 lines", "bench", "--load", path, "--plot", "-")

    def test_needs_an_axis(self):
        path = self.write(run(row("add", {"M": "1"}, 1.0)))
        self.assert_fails(2, "needs an axis of several values", "bench", "--load", path, "--plot", "-")

    def test_to_standard_output_is_alone(self):
        out = self.assert_ok("bench", "--load", self.write(sweep()), "--plot", "-")
        self.assertTrue(out.startswith("<svg"))
        self.assertTrue(out.endswith("</svg>\n"))


class Compare(Bench):
    def compare(self, now, before, *arguments):
        return (
            "bench",
            "--load",
            self.write(now),
            "--compare",
            self.write(before, "before.json"),
            *arguments,
        )

    def test_tells_changes_from_noise(self):
        before = run(*(row(name, {"M": "4"}, 1.0) for name in ("slow", "fast", "same", "noisy")))
        now = run(
            row("slow", {"M": "4"}, 1.1),
            row("fast", {"M": "4"}, 0.9),
            row("same", {"M": "4"}, 1.0005),
            row("noisy", {"M": "4"}, 1.1, error=0.2),
            row("slow", {"M": "5"}, 9.0),
        )
        text = self.assert_ok(*self.compare(now, before))
        lines = {line.split()[0]: line for line in text.split("\n\n")[1].splitlines()}
        self.assertRegex(lines["slow"], r"M=4 +1000\.00 +1100\.00 +\+10\.00 +SLOWER$")
        self.assertRegex(lines["fast"], r"-10\.00 +faster$")
        self.assertRegex(lines["same"], r"same$")
        self.assertRegex(lines["noisy"], r"same$")
        self.assertIn("rows that the earlier run does not have: 1", text)

    def test_fails_above(self):
        before, now = run(row("add", {}, 1.0)), run(row("add", {}, 1.05))
        self.assert_ok(*self.compare(now, before, "--fail-above", 6))
        result = self.assert_fails(
            1,
            "slower by more than 4 %: 1 of 1 rows; first add by 5.00 %",
            *self.compare(now, before, "--fail-above", 4),
        )
        self.assertIn("SLOWER", result.stdout)
        self.assert_ok(*self.compare(before, now, "--fail-above", 0))

    def test_shows_a_graph_beside_a_stream(self):
        stream, graph = run(row("add", {}, 1.25)), run(row("add", {}, 1.0), timed_in="graph")
        lines = self.assert_ok(*self.compare(graph, stream)).split("\n\n")[1].splitlines()
        self.assertRegex(lines[0], r"stream us +graph us +change % +speedup %$")
        self.assertRegex(lines[1], r"1250\.00 +1000\.00 +-20\.00 +\+25\.00 +faster$")
        self.assert_fails(
            1, "slower by more than 3 %", *self.compare(stream, graph, "--fail-above", 3)
        )

    def test_refuses_what_is_not_alike(self):
        one = run(row("add", {}, 1.0))
        self.assert_fails(
            2, "time both alike", *self.compare(one, run(row("add", {}, 1.0), l2="warm"))
        )
        self.assert_fails(2, "has none of these kernels", *self.compare(one, run(row("b", {}, 1.0))))

    def test_names_another_device(self):
        text = self.assert_ok(
            *self.compare(run(row("a", {}, 1.0)), run(row("a", {}, 1.0), device="Other GPU"))
        )
        self.assertIn("the earlier run is of another device: Other GPU", text)


class Measured(Bench):
    def test_wrong_command_lines(self):
        earlier = self.write(run(row("add", {}, 1.0)))
        cases = [
            ((), "SPEC is required, or --load"),
            ((ADD, "--load", earlier), "not both"),
            ((ADD, "--axis", "Q=1,2"), "no kernel has a symbol of that name"),
            ((SYMBOLIC, "--axis", "M=4:2:+1"), "a range rises"),
            ((SYMBOLIC, "--axis", "M=x"), "--axis M"),
            ((SYMBOLIC, "--axis", "N=8,12"), "multiple of 8"),
            ((SYMBOLIC, "--axis", "N=8", "--dims", "N=8"), "N is given by --axis and by --dims"),
            ((SYMBOLIC, "--dims", "Q=8"), "the spec has no symbol named Q"),
            ((SYMBOLIC, "--axis", "dtype=f12"), "unknown dtype 'f12'"),
            (("--load", earlier, "--axis", "M=1"), "--axis goes with SPEC"),
            ((ADD, "--fail-above", 3), "--fail-above goes with --compare"),
            ((ADD, "--cold", "--warm"), "--warm"),
            ((ADD, "--error", 0), "--error"),
            ((ADD, "--json", "--csv", "-"), "only one of"),
            ((ADD, "--kernel", "q"), "no kernel is named 'q'"),
            ((ADD, "--compare", self.folder / "none.json"), "none.json"),
        ]
        for arguments, message in cases:
            with self.subTest(arguments=arguments):
                self.assert_fails(2, message, "bench", *arguments)

    @unittest.skipIf(HAVE_GPU, "there is a GPU")
    def test_needs_a_gpu(self):
        self.assert_fails(1, "benchmarks measure on a GPU", "bench", ADD)
        self.assert_fails(1, "--load shows, plots and compares", "bench", ADD)

    @unittest.skipUnless(HAVE_GPU, "there is no GPU")
    def test_measures(self):
        arguments = ("bench", SYMBOLIC, "--axis", "M=64,4096", "--axis", "dtype=f16,f32")
        for how in (("--graph",), ("--warm",), ()):
            with self.subTest(how=how):
                document = self.assert_json(*arguments, *how, "--max-time", 200, "--json")
                self.assertEqual(len(document["rows"]), 4)
                for one in document["rows"]:
                    self.assertGreater(one["gigabytes_per_second"], 0)
                    self.assertGreater(one["copy_gigabytes_per_second"], 0)
                    self.assertGreaterEqual(one["time"]["samples"], 6)
        path = self.write(document)
        self.assert_ok(*arguments, "--compare", path, "--plot", self.folder / "plot.svg")


if __name__ == "__main__":
    unittest.main()
