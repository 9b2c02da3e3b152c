"""The summary of a sweep's records."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from sweeping import report  # noqa: E402

SWEEP = [sys.executable, str(ROOT / "bench" / "sweep.py")]


def record(index, ours=10.0, compiled=12.0, eager=20.0, repeat=0, **more):
    us = {"ours": ours, "compiled": compiled, "eager": eager}
    us = {name: time for name, time in us.items() if time is not None}
    base = {"seed": 5, "index": index, "repeat": repeat, "kind": "softmax", "title": f"case {index}", "bytes": 10**7}
    plan = {"family": "fused_rows", "predicted_us": 8.0, "predicted_error": -0.2, "gbps": 1000.0}
    return {**base, **plan, "us": us, "failed": {}, "device": "H100", "spec": {"name": f"k{index}"}, **more}


class Summary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, records, name="sweep.jsonl"):
        path = self.folder / name
        path.write_text("".join(json.dumps(each) + "\n" for each in records))
        return path

    def lines(self, records):
        return list(report.summary(records))

    def cells(self, records, label):
        line = next(line for line in self.lines(records) if line.startswith(f"| {label} |"))
        return [cell.strip() for cell in line.split("|")[2:-1]]

    def test_ratios(self):
        records = [record(0, compiled=5.0), record(1, compiled=20.0), record(2, compiled=10.0)]
        cells = self.cells(records, "torch.compile / ours")
        self.assertEqual(cells, ["3", "1.000", "0.50", "0.55", "0.75", "1.00", "1.50", "1.90"])
        self.assertEqual(self.cells(records, "eager / ours")[:3], ["3", "2.000", "2.00"])

    def test_repeats_replace_what_was_measured_first(self):
        low = [record(0, compiled=8.0)]
        repeats = [record(0, compiled=ours, repeat=i + 1) for i, ours in enumerate((9.0, 9.5, 20.0))]
        records = low + [record(1, compiled=9.9)] + repeats
        self.assertEqual(self.cells(records, "torch.compile / ours")[2], "0.80")
        self.assertEqual(self.cells(records, "the same after repeats")[2], "0.95")
        self.assertIn("| 0.80 | 0.95 |", next(line for line in self.lines(records) if "case 0" in line))

    def test_a_case_that_is_measured_anew_counts_once(self):
        records = [record(0, compiled=5.0), record(0, compiled=7.0, repeat=1), record(0, compiled=20.0)]
        self.assertEqual(self.cells(records, "torch.compile / ours")[:2], ["1", "2.000"])
        self.assertEqual(self.cells(records, "the same after repeats")[:2], ["1", "2.000"])

    def test_failures_are_named_and_left_out(self):
        failed = record(1, compiled=None, failed={"compiled": "OutOfMemoryError: no"})
        wrong = record(2, failed={"wrong": "9 times the error that is allowed"})
        nothing = record(3, ours=None, compiled=None, eager=None, gbps=None, failed={"measuring": "lost"})
        del nothing["predicted_error"]
        records = [record(0), failed, wrong, nothing]
        lines = self.lines(records)
        self.assertIn("4 cases of seed 5 on H100: 2 measured against both, 1 with wrong results", lines)
        self.assertEqual(self.cells(records, "torch.compile / ours")[0], "2")
        for index, what in ((1, "compiled: OutOfMemory"), (2, "wrong: 9 times"), (3, "measuring: lost")):
            self.assertTrue(any(line.startswith(f"- 5/{index} {what}") for line in lines), what)

    def test_predictions(self):
        errors = (-0.1, 0.2, -0.3, 0.4)
        records = [record(i, predicted_error=error) for i, error in enumerate(errors)]
        line = next(line for line in self.lines(records) if line.startswith("predicted"))
        self.assertTrue(line.endswith("of 4 cases: 25.0% | 37.0%"), line)

    def test_groups(self):
        records = [record(0, kind="scan", compiled=5.0, bytes=100), record(1), record(2, bytes=2 * 10**8)]
        lines = self.lines(records)
        self.assertLess(lines.index(self.row(lines, "scan")), lines.index(self.row(lines, "softmax")))
        for size in ("below 1 MB", "10 to 100 MB", "100 MB and more"):
            self.assertIn("| 1 |", self.row(lines, size))

    def row(self, lines, label):
        return next(line for line in lines if line.startswith(f"| {label} |"))

    def test_worst_cases_become_specs(self):
        file = self.file([record(i, compiled=10.0 + i) for i in range(5)])
        worst = self.folder / "worst"
        done = subprocess.run([*SWEEP, "--sum", file, "--worst", worst, "--top", "2"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        specs = sorted(worst.iterdir())
        self.assertEqual([path.name for path in specs], ["01_softmax_5_0.json", "02_softmax_5_1.json"])
        self.assertEqual(json.loads(specs[0].read_text())["name"], "k0")

    def test_no_records(self):
        self.assertEqual(self.lines([]), ["no records"])

    def test_errors_are_sentences(self):
        bad = self.folder / "bad.jsonl"
        bad.write_text('{"seed": 1}\n')
        for arguments, message in (
            (["--sum", bad], "line 1 is not a record of bench/sweep.py"),
            (["--sum", self.folder / "none"], "does not exist"),
            (["--build", self.folder], "bin/tilejit is not there; build it"),
        ):
            done = subprocess.run([*SWEEP, *arguments], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
