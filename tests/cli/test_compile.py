"""render and compile: what they print and write, and the cache behind them."""

import json
import unittest

from support import CATALOGUE, SPECS, CommandTest, run

HAVE_NVRTC = json.loads(run("doctor", "--json").stdout)["nvrtc"]["found"]
EXAMPLES = sorted(SPECS.glob("*.json"))


class Render(CommandTest):
    def test_every_example_renders_the_same_twice(self):
        for spec in EXAMPLES:
            with self.subTest(spec=spec.name):
                source = self.assert_ok("render", spec, "--target", "sm_80")
                self.assertIn('extern "C" __global__', source)
                self.assertEqual(source, self.assert_ok("render", spec, "--target", "sm_80"))

    def test_source_holds_the_header(self):
        spec = SPECS / "vector_add.json"
        header = self.assert_ok("render", spec, "--header")
        self.assertIn("struct Params", header)
        self.assertIn("struct Params", self.assert_ok("render", spec))

    def test_light_source_is_another_template(self):
        softmax = CATALOGUE / "softmax.json"
        self.assertIn("struct Passes", self.assert_ok("render", softmax, "--light", "--target", "sm_80"))
        self.assertNotIn("struct Passes", self.assert_ok("render", softmax, "--target", "sm_80"))
        self.assert_fails(2, "has no light plan", "render", SPECS / "vector_add.json", "--light")

    def test_plan_is_json_for_the_target(self):
        plan = self.assert_json("render", SPECS / "vector_add.json", "--plan", "--target", "sm_75")
        self.assertEqual(plan["target"], "sm_75")
        self.assertEqual([operand["access"] for operand in plan["operands"]], ["in", "in", "out"])

    def test_plan_says_what_limits_the_kernel(self):
        spec = SPECS / "vector_add.json"
        plan = self.assert_json("render", spec, "--plan", "--target", "sm_80")
        figures = plan["figures"]
        self.assertEqual(figures["limit"], "memory")
        self.assertEqual(figures["device"], "A100 SXM 80GB")
        self.assertEqual([one["access_bytes"] for one in figures["operands"]], [16, 16, 16])
        text = self.assert_ok("render", spec, "--plan", "--text", "--target", "sm_80")
        self.assertIn("limited by memory", text)
        self.assert_fails(2, "--plan", "render", spec, "--text")

    def test_plan_compares_a_given_tv_with_its_own(self):
        spec = SPECS / "transpose_tv.json"
        plan = self.assert_json("render", spec, "--plan", "--target", "sm_90a")
        self.assertEqual(plan["template"], "fused_tv")
        self.assertEqual(plan["tv"]["tile"], "(64,512)")
        self.assertEqual(plan["without_tv"]["template"], "fused_tile")
        y, own = plan["figures"]["operands"][2], plan["without_tv"]["figures"]["operands"][2]
        self.assertEqual((y["name"], y["access_bytes"]), ("y", 2))
        self.assertGreater(
            y["sectors"]["touched"] / y["sectors"]["least"],
            own["sectors"]["touched"] / own["sectors"]["least"],
        )
        text = self.assert_ok("render", spec, "--plan", "--text", "--target", "sm_90a")
        self.assertIn("without tv:", text)

    def test_needs_neither_compiler_nor_cache(self):
        out = self.folder / "add.cu"
        self.assert_ok("render", EXAMPLES[0], "-o", out, TILEJIT_NVRTC="/nowhere")
        self.assertIn("__global__", out.read_text())
        self.assertFalse(self.cache.exists())

    def test_reads_standard_input(self):
        text = (SPECS / "vector_add.json").read_text()
        self.assertEqual(
            self.assert_ok("render", "-", stdin=text),
            self.assert_ok("render", SPECS / "vector_add.json"),
        )

    def test_several_kernels_need_a_choice(self):
        path = self.folder / "two.json"
        kernel = json.loads(self.spec().read_text())
        path.write_text(json.dumps({"kernels": [kernel, {**kernel, "name": "other"}]}))
        self.assert_fails(2, "choose one with --kernel: copy, other", "render", path)
        self.assertIn("__global__", self.assert_ok("render", path, "--kernel", "other"))


@unittest.skipUnless(HAVE_NVRTC, "NVRTC is not installed")
class Compile(CommandTest):
    def compile(self, *arguments):
        return self.assert_json("compile", *arguments, "--json")["artifacts"]

    def test_cubin_and_ptx(self):
        cubin, ptx = self.folder / "add.cubin", self.folder / "add.ptx"
        spec = SPECS / "vector_add.json"
        self.assert_ok("compile", spec, "--target", "sm_90a", "-o", cubin, "--ptx", ptx)
        self.assertEqual(cubin.read_bytes()[:4], b"\x7fELF")
        self.assertIn(".target sm_90a", ptx.read_text())

    def test_report_names_registers_and_spills(self):
        text = self.assert_ok("compile", SPECS / "vector_add.json", "--target", "sm_90a")
        self.assertRegex(text, r"compiled by NVRTC for sm_90a, .*, \d+ registers, no spills\n    ms: ")

    def test_cubin_on_standard_output_is_nothing_else(self):
        result = self.run_command("compile", "-", "-o", "-", stdin=self.spec().read_bytes())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout[:4], b"\x7fELF")

    def test_second_time_the_disk_answers(self):
        spec = SPECS / "bias_broadcast.json"
        (first,) = self.compile(spec)
        (second,) = self.compile(spec)
        self.assertEqual((first["tier"], second["tier"]), ("compiled", "disk"))
        self.assertEqual(first["key"], second["key"])
        self.assertGreater(first["milliseconds"]["nvrtc"], 0)
        self.assertEqual(second["milliseconds"]["nvrtc"], 0)

    def test_disk_answers_without_nvrtc_in_sight(self):
        spec = self.spec()
        (first,) = self.compile(spec)
        result = self.run_command("compile", spec, "--json", TILEJIT_NVRTC="/nowhere/libnvrtc.so")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["artifacts"][0]["key"], first["key"])

    def test_targets(self):
        artifacts = self.compile(
            SPECS / "cast_f32_f8e4m3.json", "--target", "sm_75,sm_80,sm_90a,sm_120a"
        )
        self.assertEqual([a["target"] for a in artifacts], ["sm_75", "sm_80", "sm_90a", "sm_120a"])
        self.assertEqual(len({a["key"] for a in artifacts}), 4)

    def test_target_that_nvrtc_does_not_know(self):
        result = self.assert_fails(
            2, "sm_99", "compile", SPECS / "vector_add.json", "--target", "sm_99"
        )
        self.assertIn("90", result.stderr.replace("sm_99", ""))

    def test_unusable_cache_folder_is_warned_of(self):
        blocked = self.folder / "file"
        blocked.write_text("")
        result = self.run_command("compile", self.spec(), TILEJIT_CACHE_DIR=str(blocked / "cache"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("warning", result.stderr)

    def test_bounded_file_sizes_leave_no_partial_file(self):
        """SIGXFSZ used to end the command and leave a temporary file in the cache."""
        result = self.run_command("compile", self.spec(), file_bytes=2048)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("warning", result.stderr)
        self.assertEqual([path for path in self.cache.rglob("*.tmp*")], [])
        cubin = self.folder / "copy.cubin"
        self.assert_fails(
            1, "could not be written", "compile", self.spec(), "-o", cubin, file_bytes=2048
        )
        self.assertEqual(list(self.folder.glob("copy.cubin*")), [])

    def test_without_nvrtc_the_message_says_what_to_do(self):
        self.assert_fails(1, "NVRTC", "compile", self.spec(), TILEJIT_NVRTC="/nowhere/libnvrtc.so")


if __name__ == "__main__":
    unittest.main()
