"""Each document of --json matches `tilejit schema`."""

import json
import unittest

from support import CATALOGUE, ROOT, SPECS, CommandTest, run

try:
    import jsonschema
except ImportError:
    jsonschema = None

DOCTOR = json.loads(run("doctor", "--json").stdout)
HAVE_NVRTC = DOCTOR["nvrtc"]["found"]
HAVE_GPU = bool(DOCTOR["driver"].get("devices"))
ADD = SPECS / "vector_add.json"
SOFTMAX = CATALOGUE / "softmax.json"
DOCUMENTS = json.loads((ROOT / "docs" / "output.schema.json").read_text())["$defs"]


@unittest.skipIf(jsonschema is None, "python3-jsonschema is not installed")
class Schemas(CommandTest):
    def schema(self, document):
        return self.assert_json("schema", document)

    def assert_described(self, document, *arguments, codes=(0,)):
        result = self.run_command(*arguments, "--json")
        self.assertIn(result.returncode, codes, result.stderr)
        jsonschema.validate(json.loads(result.stdout), self.schema(document))

    def test_are_schemas_and_hold_what_they_refer_to(self):
        help_text = self.assert_ok("schema", "--help")
        for document in DOCUMENTS:
            if document in ("artifact", "metadata", "timing", "figures"):
                continue
            with self.subTest(document=document):
                self.assertIn(document, help_text)
                schema = self.schema(document)
                jsonschema.Draft202012Validator.check_schema(schema)
                for name, part in schema["$defs"].items():
                    self.assertEqual(part, DOCUMENTS[name])

    def test_refuse_what_they_do_not_name(self):
        document = self.assert_json("cache", "path", "--json")
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate({**document, "more": 1}, self.schema("cache-path"))

    def test_run(self):
        self.assert_described("run", "run", ADD, SPECS / "transpose_tv.json")
        if HAVE_GPU:
            self.assert_described("run", "run", ADD, "--bench", "--verify")
        result = self.run_command("run", ADD, "--json", TILEJIT_NVRTC="/nowhere/libnvrtc.so")
        if not HAVE_GPU:  # without an artifact
            jsonschema.validate(json.loads(result.stdout), self.schema("run"))

    def test_doctor(self):
        self.assert_described("doctor", "doctor", codes=(0, 1))

    def test_explain(self):
        parts = ROOT / "tests" / "golden" / "parts_both_axes.spec.json"
        for spec in (ADD, SOFTMAX, parts):
            self.assert_described("explain", "explain", spec, "--target", "sm_90a")
        if HAVE_GPU:
            self.assert_described("explain", "explain", ADD, "--measure")

    def test_coverage(self):
        self.assert_described("coverage", "coverage", ADD, SOFTMAX, codes=(1,))

    def test_empty_cache(self):
        for command in ("path", "stat", "doctor", "ls", "verify"):
            self.assert_described(f"cache-{command}", "cache", command)

    @unittest.skipUnless(HAVE_NVRTC, "NVRTC is not installed")
    def test_of_a_filled_cache(self):
        target = ("--target", "sm_90a")
        self.assert_described("warm", "warm", ADD, *target, "--dry-run")
        self.assert_described("warm", "warm", ADD, *target)
        self.assert_described("compile", "compile", SOFTMAX, *target)
        self.assert_described("compile", "compile", SOFTMAX, *target)  # found on the disk
        self.assert_described("coverage", "coverage", ADD, SOFTMAX, *target)
        (key, *_) = [e["key"] for e in self.assert_json("cache", "ls", "--json")["entries"]]
        bundle = self.folder / "all.tjb"
        for document, *arguments in (
            ("cache-ls", "ls"),
            ("cache-ls", "ls", "--all"),
            ("cache-stat", "stat"),
            ("cache-show", "show", key),
            ("cache-explain", "explain", ADD, *target),
            ("cache-why", "why", ADD, "--target", "sm_80"),
            ("cache-why", "why", ADD, SOFTMAX, *target),
            ("cache-verify", "verify"),
            ("cache-export", "export", bundle),
            ("cache-import", "import", bundle),
            ("cache-prune", "prune", "--max-age", "1d", "--yes"),
            ("cache-prune", "clear", "--yes"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_described(document, "cache", *arguments)


if __name__ == "__main__":
    unittest.main()
