"""tune: candidates without a device, and how its file reaches the other commands."""

import json
import unittest

from support import CATALOGUE, SPECS, CommandTest, run

DOCTOR = json.loads(run("doctor", "--json").stdout)
HAVE_NVRTC = DOCTOR["nvrtc"]["found"]
HAVE_GPU = bool(DOCTOR["driver"].get("devices"))
ADD = SPECS / "vector_add.json"


class Tune(CommandTest):
    @unittest.skipUnless(HAVE_NVRTC, "NVRTC is not installed")
    def test_dry_run_compiles_candidates(self):
        softmax = CATALOGUE / "softmax.json"
        arguments = ("tune", softmax, "--dry-run", "--target", "sm_90a", "--budget", 5, "-j", 2)
        kernel = self.assert_json(*arguments, "--json")["kernels"][0]
        self.assertTrue(kernel["class"].startswith("rows in:f16"))
        self.assertEqual(len(kernel["candidates"]), 6)
        self.assertEqual(kernel["candidates"][0]["tuning"], {})
        for candidate in kernel["candidates"]:
            self.assertNotIn("failure", candidate)
            self.assertGreater(candidate["artifact"]["metadata"]["registers"], 0)
            self.assertIn(candidate["figures"]["limit"], ("launch", "latency", "memory"))
        self.assertFalse((self.cache / "tuning.jsonl").exists())
        self.assertIn("as planned", self.assert_ok(*arguments))

    @unittest.skipIf(HAVE_GPU, "there is a GPU")
    def test_needs_a_gpu(self):
        self.assert_fails(1, "tuning measures on a GPU", "tune", ADD)
        self.assert_fails(1, "--dry-run lists and compiles", "tune", ADD)

    @unittest.skipUnless(HAVE_GPU, "there is no GPU")
    def test_keeps_the_best(self):
        report = self.assert_json("tune", ADD, "--budget", 4, "--json")
        self.assertEqual(report["entries"], 1)
        trials = report["kernels"][0]["trials"]
        self.assertEqual(len(trials), 5)
        for trial in trials:
            self.assertGreater(trial["milliseconds"], 0)
        self.assert_ok("run", ADD)

    def test_wrong_command_lines(self):
        cases = [
            ((), "SPEC is required, unless files are merged"),
            ((ADD, "--budget", "0"), "--budget"),
            ((ADD, "--target", "sm_90a"), "--target goes with --dry-run"),
            ((ADD, "--dims", "Q=4"), "the spec has no symbol named Q"),
            (("--merge", self.folder / "none.jsonl"), "holds no tuned kernels"),
        ]
        for arguments, message in cases:
            with self.subTest(arguments=arguments):
                self.assert_fails(2, message, "tune", *arguments)
        self.assert_fails(2, "name one with --tuning", "tune", ADD, TILEJIT_CACHE_DIR="off")


class TuningFile(CommandTest):
    """How a shipped file affects render and compile."""

    def entry(self, **changed):
        candidates = self.assert_json(
            "tune", ADD, "--dry-run", "--target", "sm_90a", "--budget", 1, "--json"
        )
        return {
            "tilejit_tuning": 1,
            "class": candidates["kernels"][0]["class"],
            "target": "sm_90a",
            "device": "some H100",
            "tuning": {"threads": 64},
            "milliseconds": 0.5,
            "default_milliseconds": 1.0,
            "name": "add",
            **changed,
        }

    def write(self, *entries):
        path = self.folder / "shipped.jsonl"
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        return path

    def threads(self, *arguments, **environment):
        plan = self.assert_json(
            "render", ADD, "--plan", "--target", "sm_90a", *arguments, **environment
        )
        return plan["threads"]

    @unittest.skipUnless(HAVE_NVRTC, "NVRTC is not installed")
    def test_reaches_plans_and_keys(self):
        path = self.write(self.entry())
        planned = self.threads()
        self.assertNotEqual(planned, 64)
        self.assertEqual(self.threads(TILEJIT_TUNING=str(path)), 64)
        self.assertEqual(self.threads("--no-tuning", TILEJIT_TUNING=str(path)), planned)
        self.assertEqual(self.threads(TILEJIT_TUNING="off"), planned)
        compile = ("compile", ADD, "--target", "sm_90a", "--json")
        keys = [
            self.assert_json(*compile, *more, TILEJIT_TUNING=str(path))["artifacts"][0]["key"]
            for more in ((), ("--no-tuning",))
        ]
        self.assertNotEqual(*keys)

    @unittest.skipUnless(HAVE_NVRTC, "NVRTC is not installed")
    def test_is_merged_beside_the_cache(self):
        path = self.write(self.entry())
        self.assertIn("1 entries", self.assert_ok("tune", "--merge", path))
        self.assertTrue((self.cache / "tuning.jsonl").exists())
        self.assertEqual(self.threads(), 64)

    @unittest.skipUnless(HAVE_NVRTC, "NVRTC is not installed")
    def test_damage_is_warned_of_and_left_alone(self):
        path = self.write(self.entry(tuning={"threads": 63}))
        result = self.run_command(
            "render", ADD, "--plan", "--target", "sm_90a", TILEJIT_TUNING=str(path)
        )
        self.assertEqual(result.returncode, 0)
        self.assertNotEqual(json.loads(result.stdout)["threads"], 63)
        self.assertEqual(result.stderr.count("warning"), 1)
        self.assertIn("line 1 of", result.stderr)
        self.assert_fails(2, "line 1 of", "tune", "--merge", path)


if __name__ == "__main__":
    unittest.main()
