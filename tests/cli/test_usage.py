"""Help, version, schema and the reaction to a wrong command line."""

import json
import unittest

from support import CATALOGUE, ROOT, SPECS, CommandTest

COMMANDS = (
    "run", "render", "compile", "tune", "warm", "coverage", "bench", "explain", "doctor", "schema",
    "layout", "cache", "help", "completion", "man",
)  # fmt: skip


class Usage(CommandTest):
    def test_help_has_examples_everywhere(self):
        for command in ((), *((name,) for name in COMMANDS)):
            with self.subTest(command=command):
                self.assertIn("Examples:\n", self.assert_ok(*command, "--help"))

    def test_version(self):
        self.assertRegex(self.assert_ok("--version"), r"^tilejit \d+\.\d+\.\d+\n$")

    def test_wrong_command_lines(self):
        spec = SPECS / "vector_add.json"
        cases = [
            ((), "a command is required; tilejit --help shows the usage"),
            (("walk",), "there is no command 'walk'"),
            (("run",), "SPEC is required"),
            (("run", spec, "--colour"), "--colour"),
            (("run", spec, "--seed", "red"), "--seed: 'red' is not a whole number from 0 to 2^63-1"),
            (("run", spec, "--seed", "-1"), "--seed: '-1' is not a whole number from 0"),
            (("run", spec, "--out", "c=-"), "--out c=- would mix the array into the report"),
            (("run", spec, "--device", "gpu"), "--device takes auto, cpu or a device's number"),
            (("run", spec, "--device", "cpu", "--bench"), "--bench times a GPU"),
            (("run", spec, "--dims", "M"), "--dims takes name=value"),
            (("run", spec, "--dims", "M=4"), "the spec has no symbol named M"),
            (("run", spec, "--scalars", "s=4"), "the spec has no scalar named s"),
            (("run", spec, "--in", "q=q.npy"), "the spec has no tensor named q"),
            (
                ("run", spec, "--kernel", "other"),
                "no kernel is named 'other'; the spec has vector_add",
            ),
            (("render", spec, "--plan", "--header"), "--plan"),
            (("render", spec, "--target", "sm_9000"), "sm_9000"),
            (("render", spec, "--target", "volta"), "volta"),
            (
                ("compile", spec, "--target", "sm_80,sm_90a", "-o", "x.cubin"),
                "one kernel and one target",
            ),
            (("compile", spec, "--json", "-o", "-"), "--json"),
        ]
        for arguments, message in cases:
            with self.subTest(arguments=arguments):
                self.assert_fails(2, message, *arguments)

    def test_schema_is_the_checked_in_one(self):
        self.assertEqual(self.assert_ok("schema"), (ROOT / "docs" / "spec.schema.json").read_text())

    def test_schema_accepts_every_spec_of_the_repository(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        schema = json.loads(self.assert_ok("schema"))
        jsonschema.Draft202012Validator.check_schema(schema)
        folders = (SPECS, CATALOGUE, ROOT / "bench" / "specs")
        specs = [spec for folder in folders for spec in folder.glob("*.json")]
        self.assertGreater(len(specs), 7)
        for spec in specs:
            with self.subTest(spec=spec.name):
                jsonschema.validate(json.loads(spec.read_text()), schema)

    def test_full_standard_output_is_a_failure(self):
        import os
        import subprocess

        with open("/dev/full", "w", encoding="ascii") as full:
            result = subprocess.run(
                [os.environ["TILEJIT_COMMAND"], "schema"],
                stdout=full,
                stderr=subprocess.PIPE,
                check=False,
            )
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"tilejit: ", result.stderr)

    def test_doctor_reports_every_part(self):
        result = self.run_command("doctor", "--json")
        report = json.loads(result.stdout)
        self.assertEqual(set(report), {"tilejit", "nvrtc", "driver", "cache"})
        self.assertEqual(result.returncode, 0 if report["nvrtc"]["found"] else 1)
        if report["nvrtc"]["found"]:
            self.assertIn("sm_90", report["nvrtc"]["supported"])
        self.assertEqual(report["cache"], {"folder": str(self.cache), "writable": True})
        text = self.run_command("doctor").stdout
        for part in ("tilejit ", "NVRTC ", "driver ", "cache ", "verdict "):
            self.assertIn(part, text)

    def test_a_missing_library_is_named_in_one_place(self):
        """The sentence names the library; it used to repeat the path in brackets."""
        place = "/nowhere/libnvrtc.so"
        doctor = self.run_command("doctor", TILEJIT_NVRTC=place).stdout
        self.assertIn(place, doctor)
        self.assertNotIn(f"({place})", doctor)
        self.assertNotIn("(libcuda.so.1)", doctor)
        spec = SPECS / "vector_add.json"
        launched = self.run_command("run", spec, "--device", "0")
        self.assertNotIn("(libcuda.so.1)", launched.stderr)
        refused = self.assert_fails(1, place, "compile", spec, TILEJIT_NVRTC=place)
        self.assertNotIn(f"({place})", refused.stderr)

    def test_doctor_says_what_to_install(self):
        result = self.assert_fails(
            1, "install NVRTC", "doctor", TILEJIT_NVRTC="/nowhere/libnvrtc.so"
        )
        self.assertIn("missing: ", result.stdout)
        # pip refuses without it on Debian 12: "externally-managed-environment".
        self.assertIn("--break-system-packages", result.stdout)

    def test_doctor_sees_an_unusable_cache_folder(self):
        blocked = self.folder / "file"
        blocked.write_text("")
        report = json.loads(
            self.run_command("doctor", "--json", TILEJIT_CACHE_DIR=str(blocked / "cache")).stdout
        )
        self.assertFalse(report["cache"]["writable"])
        self.assertIn("cannot be written to", report["cache"]["reason"])


if __name__ == "__main__":
    unittest.main()
