"""Callers' own kernels through the command: who may bring source, and every command that takes a
spec."""

import json
import unittest

from support import ROOT, CommandTest, run

HAVE_NVRTC = json.loads(run("doctor", "--json").stdout)["nvrtc"]["found"]
EXAMPLES = ROOT / "examples" / "cuda"
ALLOW = "--allow-source"

SOURCE = """#include "plan.cuh"
#include "half.cuh"
extern "C" __global__ void scale(const __grid_constant__ Params p) {
  const i64 i = blockIdx.x * i64(kThreads) + threadIdx.x;
  if (i < p.N) p.y[i] = half(p.x[i]);
}
"""


class CudaTest(CommandTest):
    def kernel(self, **changes):
        """A spec file next to its source; `changes` replace members, None removes one."""
        (self.folder / "scale.cu").write_text(SOURCE)
        (self.folder / "half.cuh").write_text(
            "__device__ inline float half(float x) { return x / 2; }\n"
        )
        spec = {
            "op": "cuda",
            "name": "scale",
            "source": "scale.cu",
            "symbols": {"N": {"example": 1000}},
            "tensors": {
                "x": {"dtype": "f32", "shape": ["N"]},
                "y": {"dtype": "f32", "shape": ["N"], "access": "out"},
            },
            "constants": {"kThreads": 128},
            "launch": {"grid": "ceil_div(N, kThreads)", "block": "kThreads"},
            "tune": {"kThreads": [64, 256]},
            "reference": {"formula": "y = x * 0.5"},
            **changes,
        }
        path = self.folder / "scale.json"
        path.write_text(json.dumps({k: v for k, v in spec.items() if v is not None}))
        return path

    def refused(self, message, *arguments, code=2, **options):
        result = self.run_command(*arguments, **options)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(message, result.stderr)


class Leave(CudaTest):
    def test_every_command_needs_it(self):
        spec = self.kernel()
        for arguments in (
            ("render",), ("run", "--device", "cpu"), ("compile",), ("explain",), ("bench",),
            ("tune", "--dry-run"), ("cache", "explain"), ("cache", "why"),
        ):  # fmt: skip
            with self.subTest(arguments):
                self.refused("brings CUDA source", *arguments, spec)
        # A list continues without it.
        self.refused("brings CUDA source", "warm", spec, code=1)
        self.assertIn("brings CUDA source", self.run_command("coverage", spec).stdout)

    def test_the_environment_gives_it(self):
        spec = self.kernel()
        self.assertIn(
            "constexpr int kThreads", self.run_command("render", spec, TILEJIT_ALLOW_SOURCE="1").stdout
        )
        self.refused("brings CUDA source", "render", spec, TILEJIT_ALLOW_SOURCE="0")

    def test_files_stay_unread_without_it(self):
        self.refused("brings CUDA source", "render", self.kernel(source="none.cu"))


class BadInput(CudaTest):
    def test_each_is_one_clear_error(self):
        (self.folder / "cycle.cuh").write_text('#include "cycle.cuh"\n')
        (self.folder / "cycle.cu").write_text('#include "cycle.cuh"\n')
        (self.folder / "large.cu").write_text(" " * (1 << 20))
        for message, changes in (
            ("no '..'", {"source": "../scale.cu"}),
            ("cycle.cuh includes cycle.cuh: a cycle", {"source": "cycle.cu"}),
            ("at most 524288", {"source": "large.cu"}),
            ("'kBlocks' is neither", {"launch": {"grid": "kBlocks"}}),
            ("'0' is 0", {"launch": {"grid": 0}}),
            ("1 to 65535 blocks along y", {"launch": {"grid": [1, 65536]}}),
            ("bytes of shared memory", {"launch": {"grid": 1, "shared": 1 << 20}}),
        ):
            with self.subTest(message):
                self.refused(message, "render", ALLOW, self.kernel(**changes))

    def test_a_missing_file_is_named(self):
        spec = self.kernel(source="none.cu")
        self.refused("none.cu could not be read", "render", ALLOW, spec, code=1)

    @unittest.skipUnless(HAVE_NVRTC, "needs NVRTC")
    def test_what_the_compiler_finds(self):
        self.refused("no kernel 'scale_it'", "compile", ALLOW, self.kernel(entry="scale_it"), code=1)
        self.refused("scale.cu(4): error", "compile", ALLOW, self.kernel(constants={"k": 1},
                     launch={"grid": 1}, tune=None), code=1)  # fmt: skip


class WithoutNvrtc(CudaTest):
    def test_the_reference_runs_on_the_cpu(self):
        result = self.run_command("run", "--device", "cpu", ALLOW, self.kernel())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("ran on the CPU reference", result.stdout)
        result = self.run_command("run", "--device", "cpu", ALLOW, self.kernel(reference=None))
        self.assertEqual(result.returncode, 2)
        self.assertIn("run it on a GPU, or give it a formula", result.stderr)

    def test_explain_and_render(self):
        spec = self.kernel()
        self.assertIn("kernel scale of scale.cu", self.run_command("explain", ALLOW, spec).stdout)
        self.assertIn("float half(float x)", self.run_command("render", ALLOW, spec).stdout)
        plan = json.loads(self.run_command("render", ALLOW, spec, "--plan").stdout)
        self.assertEqual(plan["template"], "cuda")
        self.assertEqual(plan["figures"]["blocks"], 8)


@unittest.skipUnless(HAVE_NVRTC, "needs NVRTC")
class Compiled(CudaTest):
    def test_an_included_file_is_a_part_of_the_key(self):
        spec = self.kernel()
        first = json.loads(self.run_command("cache", "explain", ALLOW, spec, "--json").stdout)["key"]
        (self.folder / "half.cuh").write_text("#define half(x) (x * 0.5f)\n")
        second = json.loads(self.run_command("cache", "explain", ALLOW, spec, "--json").stdout)["key"]
        self.assertNotEqual(first, second)

    def test_warmed_bundled_and_sealed(self):
        spec, record = self.kernel(), self.folder / "record.jsonl"
        self.run_command("compile", ALLOW, spec, TILEJIT_RECORD=str(record), TILEJIT_CACHE_DIR="off")
        bundle = self.folder / "kernels.bundle"
        report = self.assert_json(
            "warm", record, ALLOW, "--bundle", bundle, "--target", "sm_90a", "--json", "--quiet"
        )
        self.assertEqual(report["compiled"], 1)
        environment = {
            "TILEJIT_CACHE_DIR": str(self.folder / "empty"),
            "TILEJIT_CACHE_PATH": str(bundle),
            "TILEJIT_MISS": "error",
        }
        result = self.run_command("compile", ALLOW, spec, "--target", "sm_90a", **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        result = self.run_command("coverage", ALLOW, record, "--target", "sm_90a", **environment)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_tune_lists_its_candidates(self):
        result = self.run_command("tune", "--dry-run", ALLOW, self.kernel(), "--target", "sm_90a")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("3 candidates", result.stdout)
        self.assertIn('constants={"kThreads":"256"}', result.stdout)

    def test_every_example_compiles(self):
        for spec in sorted(EXAMPLES.glob("*.json")):
            with self.subTest(spec.name):
                result = self.run_command("compile", ALLOW, spec, "--target", "sm_90a")
                self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main()
