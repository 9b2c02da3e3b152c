"""explain: its text, with and without a compiler, over targets and sizes."""

import json
import unittest

from support import CATALOGUE, SPECS, CommandTest, run

DOCTOR = json.loads(run("doctor", "--json").stdout)
HAVE_NVRTC = DOCTOR["nvrtc"]["found"]
HAVE_GPU = bool(DOCTOR["driver"].get("devices"))
NO_NVRTC = {"TILEJIT_NVRTC": "/nowhere/libnvrtc.so"}
TOPICS = (
    "template",
    "block",
    "widths",
    "registers",
    "shared",
    "occupancy",
    "work",
    "in flight",
    "predicted",
    "advice",
)


class Explain(CommandTest):
    def explain(self, *arguments, **environment):
        return self.assert_ok("explain", *arguments, "--target", "sm_90a", **environment)

    def test_every_spec_has_every_topic(self):
        specs = [*sorted(SPECS.glob("*.json")), CATALOGUE / "softmax.json"]
        self.assertGreater(len(specs), 7)
        for spec in specs:
            with self.subTest(spec=spec.name):
                text = self.explain(spec, **NO_NVRTC)
                for topic in TOPICS:
                    self.assertIn(f"\n  {topic} ", text)
                self.assertLessEqual(max(map(len, text.splitlines()[:-1])), 100)
                self.assertIn("Not known: the kernel has not been compiled.", text)

    def test_says_why_there_are_no_registers(self):
        self.assertIn("  compiler   ", self.explain(SPECS / "vector_add.json", **NO_NVRTC))

    @unittest.skipUnless(HAVE_NVRTC, "NVRTC is not installed")
    def test_knows_registers(self):
        text = self.explain(SPECS / "vector_add.json")
        self.assertRegex(text, r"\d+ registers a thread, no spills")
        self.assertNotIn("  compiler   ", text)

    def test_sizes_and_targets_count(self):
        symbolic = SPECS / "symbolic.json"
        small = self.explain(symbolic, "--dims", "M=8,N=8", **NO_NVRTC)
        large = self.explain(symbolic, "--dims", "M=65536,N=8192", **NO_NVRTC)
        self.assertIn("does not fill the device", small)
        self.assertNotIn("does not fill the device", large)
        old = self.assert_ok("explain", symbolic, "--target", "sm_75", **NO_NVRTC)
        self.assertIn("of its 1024 threads", old)
        self.assertIn("published peaks of T4", old)

    def test_json(self):
        document = json.loads(self.explain(CATALOGUE / "softmax.json", "--json", **NO_NVRTC))
        (kernel,) = document["kernels"]
        self.assertEqual(kernel["template"], "fused_rows")
        self.assertEqual(set(kernel["topics"]), set(TOPICS) - {"advice"})
        self.assertEqual(kernel["figures"]["limit"], "latency")
        self.assertIn("not_compiled", kernel)
        self.assertGreater(kernel["operations"], 0)

    def test_wrong_command_lines(self):
        spec = SPECS / "symbolic.json"
        cases = [
            ((), "SPEC is required"),
            ((spec, "--dims", "Q=4"), "the spec has no symbol named Q"),
            ((spec, "--dims", "N=12"), "N is 12, but the spec promises a multiple of 8"),
            ((spec, "--target", "sm_9000"), "sm_9000"),
            ((spec, "--kernel", "q"), "no kernel is named 'q'"),
            ((spec, "--measure", "--target", "sm_90a"), "leave out --target"),
        ]
        for arguments, message in cases:
            with self.subTest(arguments=arguments):
                self.assert_fails(2, message, "explain", *arguments)

    @unittest.skipIf(HAVE_GPU, "there is a GPU")
    def test_measuring_needs_a_gpu(self):
        self.assert_fails(1, "--measure needs a GPU", "explain", SPECS / "symbolic.json", "--measure")

    @unittest.skipUnless(HAVE_GPU, "there is no GPU")
    def test_measures(self):
        text = self.assert_ok("explain", SPECS / "symbolic.json", "--measure")
        self.assertIn("  driver     ", text)
        self.assertRegex(text, r"  measured   [0-9.]+ us, \d+ GB/s")


if __name__ == "__main__":
    unittest.main()
